import type { Binding, NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { typeUsesIn } from './bindings.ts'
import { specifiersText } from './imports.ts'
import { parseFile } from './parse.ts'
import { removeDeclarator, removeFromList, removeLines } from './remove.ts'
import { Source } from './source.ts'

/** A round that removes names may leave others unused. */
const MOST_ROUNDS = 100

/**
 * Removes imports and constants that are not used any more, if they were before.
 *
 * @throws SourceSyntaxError if the text can't be parsed
 */
export function withoutUnused(before: Source, text: string): string {
  const used = namesUsedIn(before)
  let current = text
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const source = new Source(parseFile(current, before.name))
    if (!removeUnused(source, used)) break
    current = source.edits.toString()
  }
  return current
}

/** Removes one name of each declaration at most. @returns whether there was any */
function removeUnused(source: Source, used: ReadonlySet<string>): boolean {
  const types = typeUsesIn(source.program)
  const changed = new Set<t.Node>()
  for (const { referenced, constant, path, identifier } of bindingsOf(source)) {
    const { name } = identifier
    if (referenced || !constant || types.has(name) || changed.has(path.parent)) continue
    const isUnused = used.has(name) || isOurs(path)
    if (isUnused && remove(source, path, name)) changed.add(path.parent)
  }
  return changed.size > 0
}

/** An import that was added and is not needed after all. */
function isOurs({ parent }: NodePath): boolean {
  return parent.type === 'ImportDeclaration' && parent.source.value.startsWith('@sluice/')
}

function namesUsedIn(source: Source): Set<string> {
  const used = bindingsOf(source).filter(({ referenced }) => referenced)
  return new Set([
    ...used.map(({ identifier }) => identifier.name),
    ...typeUsesIn(source.program).keys(),
  ])
}

function bindingsOf({ program }: Source): Binding[] {
  const all = Object.values(program.scope.bindings)
  program.traverse({
    Scopable({ scope }) {
      all.push(...Object.values(scope.bindings))
    },
  })
  return all
}

function remove(source: Source, path: NodePath, name: string): boolean {
  if (path.parentPath?.isImportDeclaration()) {
    removeSpecifier(source, path.parentPath, name)
    return true
  }
  if (!path.isVariableDeclarator() || !isPure(path.node.init)) return false
  const { id } = path.node
  if (id.type === 'Identifier') removeDeclarator(source, path)
  else if (id.type !== 'ObjectPattern') return false
  else if (id.properties.length === 1) removeDeclarator(source, path)
  else {
    const property = id.properties.find(
      (each) => each.type === 'ObjectProperty' && 'name' in each.value && each.value.name === name,
    )
    if (property === undefined) return false
    removeFromList(source, id.properties, property)
  }
  return true
}

/** Whether an expression can be left out: it only loads a module, or makes a value. */
function isPure(node: t.Node | null | undefined): boolean {
  if (node == null || isFunction(node)) return true
  if (node.type === 'NumericLiteral' || node.type === 'StringLiteral') return true
  if (node.type === 'BinaryExpression') return isPure(node.left) && isPure(node.right)
  if (node.type === 'MemberExpression') return isPure(node.object)
  if (node.type === 'AwaitExpression') return isPure(node.argument)
  if (node.type === 'CallExpression') {
    const { callee } = node
    return callee.type === 'Identifier' && ['require', 'createLimiter'].includes(callee.name)
  }
  if (node.type !== 'NewExpression' || node.callee.type !== 'Identifier') return false
  return node.callee.name === 'Map' || /Store$|^ThrottlerStorage/.test(node.callee.name)
}

function isFunction({ type }: t.Node): boolean {
  return type === 'ArrowFunctionExpression' || type === 'FunctionExpression'
}

function removeSpecifier(source: Source, path: NodePath<t.ImportDeclaration>, name: string): void {
  const { specifiers } = path.node
  const rest = specifiers.filter(({ local }) => local.name !== name)
  if (rest.length === 0) {
    removeLines(source, path.node)
    return
  }
  const first = specifiers[0] as t.Node
  const from = source.text.slice(path.node.start as number, first.start as number)
  const start = (path.node.start as number) + from.replace(/\{\s*$/, '').length
  const end = source.text.lastIndexOf('from', path.node.source.start as number)
  source.edits.overwrite(start, end, `${specifiersText(source, rest)} `)
}
