import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { isExported, memberName, nameOf, wrapped } from '../bindings.ts'

/**
 * Where the file uses a value that is kept in a constant or in a field of a class; undefined if it
 * can be used from somewhere else.
 */
export function usesOfValue(path: NodePath): NodePath[] | undefined {
  const { parentPath } = wrapped(path)
  if (parentPath === null) return undefined
  if (isInsurance(path)) return []
  if (isOneOfNothing(wrapped(path))) return usesOfValue(parentPath)
  if (parentPath.isVariableDeclarator() && parentPath.node.id.type === 'Identifier') {
    const binding = parentPath.scope.getBinding(parentPath.node.id.name)
    if (binding === undefined || !binding.constant || isExported(parentPath)) return undefined
    const uses = binding.referencePaths.filter((each) => !isTest(each))
    return uses.some(isHandedOut) ? undefined : uses
  }
  if (parentPath.isObjectProperty()) return usesOfProperty(parentPath)
  if (parentPath.isClassProperty() || parentPath.isClassPrivateProperty()) {
    return usesOfField(parentPath, fieldName(parentPath))
  }
  if (!parentPath.isAssignmentExpression()) return undefined
  const left = parentPath.get('left') as NodePath
  const isField = left.isMemberExpression() && left.get('object').isThisExpression()
  return isField ? usesOfField(parentPath, memberName(left), left) : undefined
}

/** `const limiters = { free: limiter }`, where the file reads `limiters.free` and the like alone. */
function usesOfProperty(property: NodePath<t.ObjectProperty>): NodePath[] | undefined {
  const name = property.node.computed ? undefined : nameOf(property.node.key)
  const members = usesOfValue(property.parentPath)?.map((use) => use.parentPath as NodePath)
  const isPlain = (path: NodePath): path is NodePath<t.MemberExpression> =>
    path.isMemberExpression() && memberName(path) !== undefined
  if (name === undefined || !members?.every(isPlain)) return undefined
  return members.filter((member) => memberName(member) === name)
}

/** `limiter` of `redis ? limiter : undefined`, and of `redis && limiter`. */
function isOneOfNothing({ key, node, parentPath }: NodePath): boolean {
  if (parentPath?.isLogicalExpression({ operator: '&&' })) return key === 'right'
  if (!parentPath?.isConditionalExpression() || key === 'test') return false
  const { consequent, alternate } = parentPath.node
  const other = consequent === node ? alternate : consequent
  return other.type === 'NullLiteral' || nameOf(other) === 'undefined'
}

/** `if (limiter)`, `!limiter`: whether there is one. */
function isTest(path: NodePath): boolean {
  const { key, parent } = wrapped(path)
  return (
    key === 'test' ||
    (parent.type === 'UnaryExpression' && parent.operator === '!') ||
    (parent.type === 'LogicalExpression' && key === 'left')
  )
}

/** `insuranceLimiter: limiter`, `insuranceLimiter: x ? limiter : undefined` */
export function isInsurance(path: NodePath): boolean {
  const owner = path.findParent((each) => each.isObjectProperty() || each.isStatement())
  return owner?.isObjectProperty() === true && nameOf(owner.node.key) === 'insuranceLimiter'
}

/** `export { limiter }`, `module.exports = limiter`, `return limiter`. */
function isHandedOut(path: NodePath): boolean {
  const { parent } = wrapped(path)
  return (
    (parent.type === 'ObjectProperty' && !isInsurance(path)) ||
    parent.type.startsWith('Export') ||
    parent.type === 'AssignmentExpression' ||
    parent.type === 'ReturnStatement' ||
    parent.type === 'ArrowFunctionExpression' ||
    parent.type === 'ArrayExpression'
  )
}

function fieldName({ node }: NodePath): string | undefined {
  if (node.type === 'ClassPrivateProperty') return `#${node.key.id.name}`
  return node.type === 'ClassProperty' ? nameOf(node.key) : undefined
}

/** @param except where it is assigned */
function usesOfField(
  path: NodePath,
  name: string | undefined,
  except?: NodePath,
): NodePath[] | undefined {
  const owner = path.findParent((each) => each.isClass())
  if (owner === null || name === undefined) return undefined
  const uses: NodePath[] = []
  owner.traverse({
    MemberExpression(member) {
      const { property } = member.node
      const own = property.type === 'PrivateName' ? `#${property.id.name}` : memberName(member)
      const isField = member.get('object').isThisExpression() && own === name
      if (isField && member.node !== except?.node) uses.push(member)
    },
  })
  return uses
}
