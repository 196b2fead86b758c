import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { importedFrom, memberName, resolved, unwrapped } from '../bindings.ts'
import type { Imports, Use } from '../imports.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'

/** `ipKeyGenerator(address)` always returns text, `addressKey(address)` only for an address. */
export function replaceAddressKey(source: Source, imports: Imports, use: Use): void {
  const call = use.path.parentPath
  if (!call?.isCallExpression() || use.path.key !== 'callee') return
  const [address, subnet] = call.get('arguments') as NodePath[]
  if (!isAddress(address)) return
  imports.replace(use, 'addressKey')
  if (subnet?.isBooleanLiteral()) source.replace(subnet.node, '128')
  const isOperand = /^(Logical|Binary|Member|Conditional|TSAs)/.test(call.parent.type)
  source.edits.prependRight(call.node.start as number, isOperand ? '(' : '')
  source.edits.prependLeft(call.node.end as number, ` ?? 'unknown'${isOperand ? ')' : ''}`)
}

/** `ipKeyGenerator(request)`, which is the same for everybody there, and an argument that may be a request. */
export function checkAddress(options: OptionsObject): void {
  const fn = options.value('keyGenerator')
  if (fn === undefined) return
  const isHelper = (path: NodePath) => importedFrom(path, 'express-rate-limit') === 'ipKeyGenerator'
  let isMisused = isHelper(fn)
  resolved(fn).traverse({
    CallExpression(path) {
      const [address] = path.get('arguments') as NodePath[]
      if (isHelper(path.get('callee') as NodePath) && !isAddress(address)) isMisused = true
    },
  })
  if (isMisused)
    options.leave(
      'ipKeyGenerator takes an address. Whether its argument is one can not be seen here.',
    )
}

/** Names of members and variables that hold an address, wherever they come from. */
const ADDRESS = /^(ip|ips|ipAddress|address|addr|clientIp|remoteIp|remoteAddress|ip_?addr)$/i

/** Whether an argument is certainly an address: `req.ip`, `ip ?? ''`, `req.socket.remoteAddress!`, a header field. */
function isAddress(path: NodePath | undefined): boolean {
  if (path === undefined) return false
  const inner = unwrapped(path)
  if (inner.isStringLiteral() || inner.isTemplateLiteral()) return true
  if (inner.isMemberExpression() || inner.isOptionalMemberExpression()) {
    const name = memberName(inner as NodePath<t.MemberExpression>)
    const ofHeaders = /\bheaders\b/.test(inner.get('object').toString())
    return (
      ofHeaders ||
      (name !== undefined && ADDRESS.test(name)) ||
      isAddress(inner.get('object') as NodePath)
    )
  }
  if (inner.isLogicalExpression())
    return isAddress(inner.get('left')) && isAddress(inner.get('right'))
  if (inner.isConditionalExpression())
    return isAddress(inner.get('consequent')) && isAddress(inner.get('alternate'))
  if (!inner.isIdentifier()) return false
  const value = resolved(inner)
  if (value !== inner && value.node !== inner.node) return isAddress(value)
  return ADDRESS.test(inner.node.name)
}
