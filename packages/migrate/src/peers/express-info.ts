import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { nameOf, unwrapped } from '../bindings.ts'
import { ofRateLimitInfo } from '../decision-fields.ts'
import { DIFFERENCES } from '../differences.ts'
import { isCompared, isInArithmetic, memberOf } from '../functions.ts'
import type { Source } from '../source.ts'

const REQUEST = /^req(uest)?$/

/** `request.rateLimit.resetTime` outside of the options. */
export function replaceInfo(source: Source): void {
  // A limiter that stays sets the fields of the other library.
  const isMixed = source.left.length > 0
  if (isMixed && source.rewritten.length === 0) return
  const replace = (path: NodePath<t.MemberExpression | t.OptionalMemberExpression>) => {
    if (nameOf(path.node.property) !== 'rateLimit' || source.isReplaced(path.node)) return
    const info = memberOf(path)
    if (info === undefined) {
      if (isOfRequest(path)) source.note(path, DIFFERENCES.info)
      return
    }
    if (!['used', 'current', 'resetTime'].includes(info.name)) return
    if (source.isReplaced(info.member.node)) return
    if (isMixed) {
      source.note(path, DIFFERENCES.info)
      return
    }
    const owner = info.member.node as t.MemberExpression
    const text = ofRateLimitInfo(source.original(owner.object), isInArithmetic(info.member))[
      info.name
    ] as string
    if (info.name === 'resetTime') source.note(path, DIFFERENCES.resetTime)
    else if (isCompared(info.member)) source.note(path, DIFFERENCES.used)
    // An exempt request has none.
    const isOptional = info.member.isOptionalMemberExpression()
    source.replace(
      info.member.node,
      isOptional ? `(${source.original(path.node)} && ${text})` : text,
    )
  }
  source.program.traverse({
    MemberExpression: replace,
    OptionalMemberExpression: replace,
    // `const { rateLimit } = request`
    VariableDeclarator(path) {
      const { id, init } = path.node
      if (id.type !== 'ObjectPattern' || init?.type !== 'Identifier') return
      const names = id.properties.map((each) => 'key' in each && nameOf(each.key))
      if (REQUEST.test(init.name) && names.includes('rateLimit'))
        source.note(path, DIFFERENCES.info)
    },
    TSPropertySignature(path) {
      const { key } = path.node
      if (nameOf(key) === 'rateLimit') source.note(path, DIFFERENCES.infoType)
    },
  })
}

/** `req.rateLimit`, `(request as Limited).rateLimit` */
function isOfRequest(path: NodePath<t.MemberExpression | t.OptionalMemberExpression>): boolean {
  const owner = unwrapped(path.get('object') as NodePath)
  return owner.isIdentifier() && REQUEST.test(owner.node.name)
}
