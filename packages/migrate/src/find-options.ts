import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { isExported, readsOf, resolved, unwrapped, wrapped } from './bindings.ts'
import type { Imports, Use } from './imports.ts'
import { OptionsObject, spreadsOf } from './options-object.ts'
import { isTypeScript, type Source } from './source.ts'

/**
 * Types an object that a constant keeps, in TypeScript: the functions in it have parameters without
 * types, and a name or a duration would be any text.
 *
 * @param imports the imports of the other limiter, whose types of options would not fit
 * @param type the type of the options
 */
function typeConstant(imports: Imports, { path }: OptionsObject, type: string): void {
  const { source } = imports
  let outer: NodePath = path
  while (outer.parentPath?.isTSAsExpression()) outer = outer.parentPath
  let declarator = outer.parentPath
  while (declarator?.isConditionalExpression() || declarator?.isLogicalExpression()) {
    declarator = declarator.parentPath
  }
  if (!declarator?.isVariableDeclarator() || declarator.node.id.type !== 'Identifier') return
  if (!isTypeScript(source)) return
  const { typeAnnotation } = declarator.node.id
  const own = typesIn(imports, typeAnnotation)
  if (typeAnnotation != null && own.length > 0) {
    if (!own.some((use) => imports.isDropped(use))) {
      source.remove(typeAnnotation, typeAnnotation.start as number, typeAnnotation.end as number)
    }
    for (const use of own) imports.drop(use)
  } else if (
    typeAnnotation != null ||
    !/\b_?decision\b|\b(algorithm|window|headers|respond|onStoreError): /.test(
      source.current(path.node),
    )
  ) {
    return
  }
  const name = imports.local(type, true)
  source.edits.appendLeft(outer.node.end as number, ` satisfies Partial<${name}>`)
}

/** The types of the other limiter in a type. */
function typesIn(imports: Imports, type: t.Node | null | undefined): Use[] {
  return imports.uses.filter(({ path }) => path.find(({ node }) => node === type) !== null)
}

/** Whether a type is of a constant that only options of these owners read, so that it goes with them. */
export function isOfOptions({ path }: Use, owners: Owners): boolean {
  const annotation = path.findParent((each) => each.isTSTypeAnnotation())
  const id = annotation?.parentPath
  return id?.parentPath?.isVariableDeclarator() === true && isOnlyReadBy(id, owners)
}

/** The end of a reason where two places change together. */
export const BY_HAND =
  'Rewrite both by hand, in one change: https://sluicejs.github.io/sluice/migrating has every name.'

/** Why options that another file makes, or reads, are not rewritten. */
export const ELSEWHERE = `Some of its options are made or read elsewhere. ${BY_HAND}`

const COMPILED =
  'This file is compiled from another one. Run the command on that one, and build again.'
const PASSED_ON = `It is not called here, but passed on, and what gets it may call it. ${BY_HAND}`

/** Leaves something that is used in another way than by a call. */
export function leaveUse(source: Source): never {
  const isCompiled = /\b__importDefault\b|\b_interopRequireDefault\b|['"]__esModule['"]/.test(
    source.text,
  )
  return source.leave(isCompiled ? COMPILED : PASSED_ON)
}

/** The owners of options: the calls, or the objects, that a peer rewrites in a file. */
export type Owners = ReadonlySet<t.Node>

/** The rewriting of a package's limiters in a file. */
export interface Rewriting {
  readonly source: Source
  readonly imports: Imports
  readonly owners: Owners
  /** Objects of options that are rewritten. */
  readonly seen: Set<t.Node>
}

/** @param owners what is rewritten */
export function rewritingOf(imports: Imports, owners: readonly NodePath[]): Rewriting {
  const { source } = imports
  return { source, imports, owners: new Set(owners.map(({ node }) => node)), seen: new Set() }
}

/**
 * Rewrites the objects that options consist of.
 *
 * @param rewrite called for each of them, before it is finished
 * @param type the type of the options, for an object that a constant keeps
 */
export function rewriteOptions(
  { source, imports, owners, seen }: Rewriting,
  path: NodePath,
  rewrite: (options: OptionsObject) => void,
  type?: string,
): void {
  for (const options of findOptions(source, path, owners, seen)) {
    rewrite(options)
    options.finish()
    if (type !== undefined) typeConstant(imports, options, type)
  }
}

/**
 * The objects that options consist of: the object itself, or that of a constant in the file, and those
 * that are spread into it. Leaves the call if something else makes or reads some of them.
 *
 * @param seen objects that were found before: they are left out
 */
function findOptions(
  source: Source,
  path: NodePath,
  owners: Owners,
  seen: Set<t.Node>,
): OptionsObject[] {
  const [object, ...others] = objectsIn(source, path, owners)
  if (object === undefined || others.length > 0) source.leave(ELSEWHERE)
  const parts = spreadsOf(object)
    .flatMap((spread) => objectsIn(source, spread.get('argument'), owners))
    .map((part) => new OptionsObject(source, part, false))
  if (parts.some(({ spreads }) => spreads.length > 0)) source.leave(ELSEWHERE)
  const all = [...parts, new OptionsObject(source, object, true, parts)]
  const found = all.filter((each) => !seen.has(each.path.node))
  for (const each of found) seen.add(each.path.node)
  return found
}

/** `common`, `x ? { … } : {}`, `x && { … }`: the objects that it can be. */
function objectsIn(source: Source, path: NodePath, owners: Owners): NodePath<t.ObjectExpression>[] {
  const inner = resolved(path)
  const leave = () => source.leave(`${ELSEWHERE} Here: ${nameIn(source, path)}.`)
  if (inner !== unwrapped(path) && !isOnlyReadBy(unwrapped(path), owners)) leave()
  if (inner.isObjectExpression()) return [inner]
  if (inner.isConditionalExpression()) {
    return [inner.get('consequent'), inner.get('alternate')].flatMap((each) =>
      objectsIn(source, each, owners),
    )
  }
  if (inner.isLogicalExpression({ operator: '&&' })) {
    return objectsIn(source, inner.get('right'), owners)
  }
  return inner.isNullLiteral() || inner.isIdentifier({ name: 'undefined' }) ? [] : leave()
}

/** An expression for a reader, in a few words. */
function nameIn(source: Source, path: NodePath): string {
  const text = source.original(path.node).replace(/\s+/g, ' ')
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** Returns an expression, or the value of the constant that it reads. Leaves the call if something else reads that. */
export function ownValue(source: Source, path: NodePath): NodePath {
  const value = resolved(path)
  if (value === unwrapped(path)) return value
  const { parentPath } = wrapped(value)
  const isShared = parentPath !== null && isExported(parentPath)
  if (isShared || readsOf(value).length !== 1) source.leave(ELSEWHERE)
  return value
}

/** Whether nothing but the owners reads what a constant keeps. @param path where the constant is read */
export function isOnlyReadBy(path: NodePath, owners: Owners): boolean {
  if (!path.isIdentifier()) return false
  const binding = path.scope.getBinding(path.node.name)
  if (binding === undefined || isExported(binding.path)) return false
  return binding.referencePaths.every((each) => isReadBy(each, owners))
}

function isReadBy(path: NodePath, owners: Owners): boolean {
  const outer = wrapped(path)
  const { parentPath } = outer
  if (parentPath === null) return false
  if (owners.has(outer.node) || owners.has(parentPath.node)) return true
  if (parentPath.isVariableDeclarator()) return isOnlyReadBy(parentPath.get('id'), owners)
  const isPart =
    parentPath.isSpreadElement() ||
    parentPath.isConditionalExpression() ||
    parentPath.isLogicalExpression() ||
    (parentPath.isObjectExpression() && outer.isSpreadElement())
  return isPart && isReadBy(parentPath, owners)
}
