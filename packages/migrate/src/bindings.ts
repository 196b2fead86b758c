import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'

/** The name that a module exports and an expression refers to; undefined for anything else. */
export function importedFrom(path: NodePath, module: string): string | undefined {
  if (path.isMemberExpression()) {
    const owner = importedFrom(path.get('object'), module)
    const name = memberName(path)
    const isModule = owner === '*' || owner === 'default'
    return isModule && name !== undefined ? name : undefined
  }
  if (isRequireOf(path, module)) return '*'
  if (!path.isIdentifier()) return undefined
  const binding = path.scope.getBinding(path.node.name)
  return binding === undefined ? undefined : exportOf(binding.path, path.node.name, module)
}

function exportOf(path: NodePath, local: string, module: string): string | undefined {
  const { parent } = path
  if (path.isImportSpecifier() && isImportOf(parent, module)) return nameOf(path.node.imported)
  if (path.isImportDefaultSpecifier() && isImportOf(parent, module)) return 'default'
  if (path.isImportNamespaceSpecifier() && isImportOf(parent, module)) return '*'
  if (isImportOf(path.node, module)) return '*'
  if (!path.isVariableDeclarator()) return undefined
  const init = unwrapped(path.get('init') as NodePath)
  const from = init.node ? importedFrom(init, module) : undefined
  const { id } = path.node
  if (from === undefined || id.type === 'Identifier') return from
  if (id.type !== 'ObjectPattern') return undefined
  const property = id.properties.find(
    (each): each is t.ObjectProperty =>
      each.type === 'ObjectProperty' && nameOf(each.value) === local,
  )
  return property === undefined ? undefined : nameOf(property.key)
}

/** `import … from 'module'`, and `import name = require('module')`. */
export function isImportOf(node: t.Node, module: string): boolean {
  if (node.type === 'ImportDeclaration') return node.source.value === module
  if (node.type !== 'TSImportEqualsDeclaration') return false
  const { moduleReference: from } = node
  return from.type === 'TSExternalModuleReference' && from.expression.value === module
}

/** `require('module')`, and `await import('module')`. */
export function isRequireOf(path: NodePath, module: string): boolean {
  const call = path.isAwaitExpression() ? path.get('argument') : path
  if (!call.isCallExpression()) return false
  const { callee, arguments: given } = call.node
  const [first] = given
  const isLoading =
    callee.type === 'Import' || (callee.type === 'Identifier' && callee.name === 'require')
  return isLoading && first?.type === 'StringLiteral' && first.value === module
}

/** The expression within types and parentheses around it. */
export function unwrapped(path: NodePath): NodePath {
  const isWrapper =
    path.isTSAsExpression() ||
    path.isTSSatisfiesExpression() ||
    path.isTSNonNullExpression() ||
    path.isTSTypeAssertion() ||
    path.isParenthesizedExpression()
  return isWrapper ? unwrapped(path.get('expression') as NodePath) : path
}

/** The expression with the types and parentheses around it. */
export function wrapped(path: NodePath): NodePath {
  const { parentPath } = path
  return parentPath !== null && unwrapped(parentPath) !== parentPath ? wrapped(parentPath) : path
}

/** Whether parentheses are around it, which are not part of its text. */
export function isParenthesized({ extra }: t.Node): boolean {
  return extra?.parenthesized === true
}

/** Returns the initial value of a constant of this file; any other expression itself. */
export function resolved(path: NodePath): NodePath {
  const inner = unwrapped(path)
  if (!inner.isIdentifier()) return inner
  const binding = inner.scope.getBinding(inner.node.name)
  if (binding === undefined || !binding.constant) return inner
  if (binding.path.isFunctionDeclaration()) return binding.path
  if (!binding.path.isVariableDeclarator() || binding.path.node.id.type !== 'Identifier') {
    return inner
  }
  const init = binding.path.get('init') as NodePath
  return init.node ? unwrapped(init) : inner
}

/** Whether a declarator is of `export const`. */
export function isExported({ parentPath }: NodePath): boolean {
  return parentPath?.parentPath?.isExportNamedDeclaration() ?? false
}

/** Where the file reads the variable that an expression initializes. */
export function readsOf(path: NodePath): readonly NodePath[] {
  const { parentPath } = wrapped(path)
  if (!parentPath?.isVariableDeclarator() || parentPath.node.id.type !== 'Identifier') return []
  return parentPath.scope.getBinding(parentPath.node.id.name)?.referencePaths ?? []
}

export function memberName({ node }: NodePath<t.MemberExpression>): string | undefined {
  return node.computed && node.property.type !== 'StringLiteral' ? undefined : nameOf(node.property)
}

/** The name of an identifier, or of a string that is a key. */
export function nameOf(node: t.Node): string | undefined {
  if (node.type === 'Identifier') return node.name
  return node.type === 'StringLiteral' ? node.value : undefined
}

/** The value of a property of an object; of a method the method itself. */
export function propertyOf(object: NodePath, name: string): NodePath | undefined {
  if (!object.isObjectExpression()) return undefined
  for (const each of object.get('properties')) {
    if (each.isSpreadElement() || nameOf((each.node as t.ObjectProperty).key) !== name) continue
    return each.isObjectProperty() ? (each.get('value') as NodePath) : each
  }
  return undefined
}

/** Where names are used as types, by name: Babel's scopes don't count these. */
export function typeUsesIn(program: NodePath<t.Program>): Map<string, NodePath[]> {
  const uses = new Map<string, NodePath[]>()
  const add = (path: NodePath) => {
    const root = path.isTSQualifiedName() ? path.get('left') : path
    const name = nameOf(root.node)
    if (name !== undefined) uses.set(name, [...(uses.get(name) ?? []), root])
  }
  program.traverse({
    TSTypeReference: (path) => add(path.get('typeName')),
    TSExpressionWithTypeArguments: (path) => add(path.get('expression')),
    TSTypeQuery: (path) => add(path.get('exprName')),
  })
  return uses
}
