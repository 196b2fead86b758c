import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { memberName } from './bindings.ts'
import { BY_HAND } from './find-options.ts'
import type { Source } from './source.ts'

/**
 * Gives up rewritten calls that read a value that was edited for them and that something which stays reads too:
 * it would get options, or a limiter, that it does not know.
 */
export function leaveSharers(source: Source): void {
  for (const left of source.leftPaths) {
    for (const value of valuesIn(left)) {
      if (!source.isEdited(value.node)) continue
      for (const call of source.rewritten) {
        const isReader = call.isDescendant(value) || call === value || valuesIn(call).has(value)
        if (!isReader) continue
        source.giveUp(call, `It shares ${nameOfValue(source, value)} with what stays. ${BY_HAND}`)
      }
    }
  }
}

/** `limiter` of `const limiter = …`, `this.limiter` of `this.limiter = …`. */
function nameOfValue(source: Source, { node, parent }: NodePath): string {
  if (node.type === 'FunctionDeclaration') return node.id?.name ?? 'a function'
  const before = source.text.slice(parent.start as number, node.start as number)
  return /([\w.$#]+)\s*(?::[^=]*)?=\s*\(?$/.exec(before)?.[1] ?? 'a value'
}

/** The values of this file that an expression reads, directly or by others: of constants, functions and fields. */
function valuesIn(path: NodePath, found = new Set<NodePath>()): Set<NodePath> {
  const add = (value: NodePath | undefined) => {
    if (!value?.node || found.has(value) || isModule(value)) return
    found.add(value)
    valuesIn(value, found)
  }
  const addNamed = (each: NodePath<t.Identifier>) => {
    const { path: declared } = each.scope.getBinding(each.node.name) ?? {}
    if (declared?.isVariableDeclarator()) add(declared.get('init') as NodePath)
    if (declared?.isFunctionDeclaration()) add(declared)
  }
  if (path.isIdentifier()) addNamed(path)
  path.traverse({
    Identifier: (each) => void (each.isReferencedIdentifier() && addNamed(each)),
    MemberExpression(each) {
      if (each.get('object').isThisExpression()) for (const value of fieldsOf(each)) add(value)
    },
  })
  return found
}

/** `require('module')` and the like: each name of a module is of its own. */
function isModule(value: NodePath): boolean {
  return /^\(?(await )?(require|import)\(/.test(value.toString())
}

/** What is written to a field: `this.limiter = …`, `limiter = …`. */
function fieldsOf(read: NodePath<t.MemberExpression>): NodePath[] {
  const name = memberName(read)
  const values: NodePath[] = []
  read
    .findParent((each) => each.isClass())
    ?.traverse({
      ClassProperty(each) {
        if ((each.node.key as t.Identifier).name === name)
          values.push(each.get('value') as NodePath)
      },
      AssignmentExpression(each) {
        const left = each.get('left')
        if (left.isMemberExpression() && left.get('object').isThisExpression()) {
          if (memberName(left) === name) values.push(each.get('right'))
        }
      },
    })
  return values
}
