import type { NodePath } from '@babel/traverse'
import { memberName, nameOf, wrapped } from '../bindings.ts'

/**
 * Where the file uses a value that is kept in a constant or in a field of a class; undefined if it
 * can be used from somewhere else.
 */
export function usesOfValue(path: NodePath): NodePath[] | undefined {
  const { parentPath } = wrapped(path)
  if (parentPath === null) return undefined
  if (isInsurance(path)) return []
  if (parentPath.isVariableDeclarator() && parentPath.node.id.type === 'Identifier') {
    const binding = parentPath.scope.getBinding(parentPath.node.id.name)
    if (binding === undefined || !binding.constant || isExported(parentPath)) return undefined
    return binding.referencePaths.some(isHandedOut) ? undefined : binding.referencePaths
  }
  if (parentPath.isClassProperty() || parentPath.isClassPrivateProperty()) {
    return usesOfField(parentPath, fieldName(parentPath))
  }
  if (!parentPath.isAssignmentExpression()) return undefined
  const left = parentPath.get('left') as NodePath
  const isField = left.isMemberExpression() && left.get('object').isThisExpression()
  return isField ? usesOfField(parentPath, memberName(left), left) : undefined
}

/** `insuranceLimiter: limiter` */
export function isInsurance(path: NodePath): boolean {
  const { parentPath } = wrapped(path)
  return (
    parentPath?.isObjectProperty() === true && nameOf(parentPath.node.key) === 'insuranceLimiter'
  )
}

function isExported({ parentPath }: NodePath): boolean {
  return parentPath?.parentPath?.isExportNamedDeclaration() ?? false
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
