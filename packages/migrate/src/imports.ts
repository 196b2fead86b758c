import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import {
  importedFrom,
  isImportOf,
  isRequireOf,
  memberName,
  nameOf,
  typeUsesIn,
  unwrapped,
  wrapped,
} from './bindings.ts'
import { removeDeclarator, removeLines } from './remove.ts'
import type { Source } from './source.ts'

/** Where a file uses an export of a module. */
export interface Use {
  readonly path: NodePath
  /** `default` also stands for the module itself. */
  readonly name: string
}

/** A call of what a module exports, or of a class of it. */
export interface UseCall {
  readonly use: Use
  readonly call: NodePath<t.CallExpression | t.NewExpression>
}

/** @returns undefined if it is used in another way */
export function callOf(use: Use): UseCall | undefined {
  const { parentPath } = use.path
  const isCall = parentPath?.isCallExpression() || parentPath?.isNewExpression()
  return isCall && use.path.key === 'callee' ? { use, call: parentPath } : undefined
}

/** Whether a name is used as a type. */
export function isTypeUse(path: NodePath): boolean {
  return wrapped(path).parentPath?.node.type.startsWith('TS') ?? false
}

/** A statement that loads the module: of a `require` its declarator. */
type Loading = NodePath<t.ImportDeclaration | t.VariableDeclarator | t.TSImportEqualsDeclaration>

/** The imports of a module that others take the place of. */
export class Imports {
  readonly from: string
  readonly uses: readonly Use[]
  /** The file loads it, or a name of it. */
  readonly isUsed: boolean
  readonly source: Source
  readonly #to: string
  readonly #loadings: readonly Loading[]
  readonly #replaced = new Set<t.Node>()
  /** Names of the new module, and what they are called in this file. */
  readonly #needed = new Map<string, string>()

  /** @param to the module that replaces it; `''`: none does */
  constructor(source: Source, from: string, to: string) {
    this.source = source
    this.from = from
    this.#to = to
    // Most files use few of the packages, and walking a program takes long.
    const isNamed = source.text.includes(from)
    this.#loadings = isNamed ? loadingsOf(source.program, from) : []
    const types = isNamed ? typeUsesIn(source.program) : new Map()
    this.uses = [
      ...this.#loadings.flatMap((each) => usesOf(each, from, types)),
      ...(isNamed ? inlineUses(source, from) : []),
    ]
    this.isUsed = this.#loadings.length > 0 || this.uses.length > 0
  }

  /** Where the file uses the module first, or loads it. */
  get first(): NodePath | undefined {
    return this.uses[0]?.path ?? this.#loadings[0]
  }

  /** Writes the name of another export in place of a use. @param isType it is used as a type */
  replace(use: Use, name: string, isType = false): void {
    this.drop(use)
    if (use.path.isCallExpression() && use.path.node.callee.type === 'Import') {
      this.source.replace(use.path.node.arguments[0] as t.Node, `'${this.#to}'`)
      return
    }
    this.source.replace(
      use.path.node,
      this.#isInline(use) ? this.#inline(name) : this.local(name, isType),
    )
  }

  /** The use is gone with what is around it. */
  drop(use: Use): void {
    this.#replaced.add(use.path.node)
  }

  /** Whether the use is gone, also with what was written in its place. */
  isDropped({ path }: Use): boolean {
    return this.#replaced.has(path.node) || this.source.isGone(path.node)
  }

  /** Returns the local name of an export of the new module; it will be imported. */
  local(name: string, isType = false): string {
    const main = this.#main
    // A `require` has no types.
    if (isType && !main?.isImportDeclaration() && !main?.isTSImportEqualsDeclaration()) {
      return `import('${this.#to}').${name}`
    }
    if (main === undefined) return this.#inline(name)
    const key = isType ? `type ${name}` : name
    const known = this.#needed.get(key)
    if (known !== undefined) return known
    const left = this.uses.filter(({ path }) => this.source.isLeft(path))
    const kept = left.map(({ path }) => rootName(path))
    const own = new Set(this.#loadings.flatMap(localsOf).filter((each) => !kept.includes(each)))
    const isFree = (each: string) => own.has(each) || !this.source.names.has(each)
    const local = isFree(name) ? name : `sluice${name[0]?.toUpperCase()}${name.slice(1)}`
    this.#needed.set(key, local)
    return local
  }

  #inline(name: string): string {
    return `require('${this.#to}').${name}`
  }

  #isInline({ path }: Use): boolean {
    const inner = path.isMemberExpression() ? path.get('object') : path
    return isRequireOf(inner, this.from)
  }

  /** Rewrites what loads the module. @returns the names that are still used */
  finish(): string[] {
    const rest = this.uses.filter((use) => !this.isDropped(use))
    const main = this.#main
    for (const loading of this.#loadings) {
      const kept = new Set(
        rest.filter((use) => isOf(use, loading)).map(({ path }) => rootName(path)),
      )
      this.#rewrite(loading, loading === main ? this.#needed : new Map(), kept, isTypeOnly(loading))
    }
    return [...new Set(rest.map(({ name }) => name))]
  }

  /** The statement that will load the names of the new module. */
  get #main(): Loading | undefined {
    return this.#loadings.find((each) => !isTypeOnly(each)) ?? this.#loadings[0]
  }

  #rewrite(
    loading: Loading,
    needed: ReadonlyMap<string, string>,
    kept: ReadonlySet<string>,
    isType: boolean,
  ): void {
    const source = this.source
    const locals = localsOf(loading)
    const isKept = this.#replaced.size === 0 || locals.every((each) => kept.has(each))
    if (needed.size === 0 && locals.length > 0 && isKept) return
    const isSideEffect = loading.isImportDeclaration() && loading.node.specifiers.length === 0
    if (isSideEffect) {
      source.replace(loading.node.source, `'${this.#to}'`)
      return
    }
    const lines: string[] = []
    if (needed.size > 0) lines.push(statement(loading, needed, this.#to, isType))
    if (kept.size > 0) lines.push(keptStatement(source, loading, kept, this.from))
    if (loading.isVariableDeclarator()) {
      this.#rewriteDeclarator(loading, lines)
      return
    }
    const end = source.original(loading.node).endsWith(';') ? ';' : ''
    if (lines.length === 0) removeLines(source, loading.node)
    else source.replace(loading.node, lines.map((line) => line + end).join(source.eol))
  }

  #rewriteDeclarator(loading: NodePath<t.VariableDeclarator>, texts: readonly string[]): void {
    const source = this.source
    const { parent } = loading
    const isSole = parent.type === 'VariableDeclaration' && parent.declarations.length === 1
    if (texts.length === 0) removeDeclarator(source, loading)
    else if (texts.length === 1 || !isSole) source.replace(loading.node, texts.join(', '))
    else {
      const end = source.original(parent).endsWith(';') ? ';' : ''
      const lines = texts.map((text) => `${parent.kind} ${text}${end}`)
      source.replace(parent, lines.join(source.eol + source.indentOf(parent)))
    }
  }
}

function isTypeOnly(loading: Loading): boolean {
  return loading.isImportDeclaration() && loading.node.importKind === 'type'
}

function statement(
  loading: Loading,
  names: ReadonlyMap<string, string>,
  module: string,
  isType: boolean,
): string {
  const parts = [...names].map(([name, local]) => {
    const bare = name.replace('type ', '')
    const shown = isType ? bare : name
    if (bare === local) return shown
    return loading.isVariableDeclarator() ? `${bare}: ${local}` : `${shown} as ${local}`
  })
  const list = `{ ${parts.sort(byName).join(', ')} }`
  if (loading.isVariableDeclarator()) {
    const init = unwrapped(loading.get('init') as NodePath)
    const isAwaited = init.isAwaitExpression() || /^\(?await\b/.test(loading.get('init').toString())
    return `${list} = ${isAwaited ? 'await import' : 'require'}('${module}')`
  }
  return `import ${isType ? 'type ' : ''}${list} from '${module}'`
}

const byName = (one: string, other: string) =>
  one.replace('type ', '').localeCompare(other.replace('type ', ''))

/** Returns the rest of a statement once other names are gone from it. */
function keptStatement(
  source: Source,
  loading: Loading,
  kept: ReadonlySet<string>,
  module: string,
): string {
  if (loading.isVariableDeclarator()) {
    const { id, init } = loading.node
    if (id.type !== 'ObjectPattern') return source.original(loading.node)
    const names = id.properties.filter((each) =>
      each.type === 'ObjectProperty' ? kept.has(nameOf(each.value) ?? '') : true,
    )
    const list = names.map((each) => source.original(each)).join(', ')
    return `{ ${list} } = ${source.original(init as t.Node)}`
  }
  if (!loading.isImportDeclaration()) return source.original(loading.node).replace(/;$/, '')
  const specifiers = loading.node.specifiers.filter(({ local }) => kept.has(local.name))
  const type = loading.node.importKind === 'type' ? 'type ' : ''
  return `import ${type}${specifiersText(source, specifiers)} from '${module}'`
}

type Specifier = t.ImportDeclaration['specifiers'][number]

/** `all, { one, other }` */
export function specifiersText(source: Source, specifiers: readonly Specifier[]): string {
  const textsOf = (isNamed: boolean) =>
    specifiers
      .filter(({ type }) => (type === 'ImportSpecifier') === isNamed)
      .map((each) => source.original(each))
  const named = textsOf(true).join(', ')
  return [...textsOf(false), ...(named ? [`{ ${named} }`] : [])].join(', ')
}

function loadingsOf(program: NodePath<t.Program>, module: string): Loading[] {
  const loadings: Loading[] = []
  const add = (path: NodePath<t.ImportDeclaration | t.TSImportEqualsDeclaration>) => {
    if (isImportOf(path.node, module)) loadings.push(path)
  }
  program.traverse({
    ImportDeclaration: add,
    TSImportEqualsDeclaration: add,
    VariableDeclarator(path) {
      const init = path.get('init')
      if (init.node && isModule(init as NodePath, module)) loadings.push(path)
    },
  })
  return loadings
}

/** The module as it is loaded, or an export of it. */
function isModule(path: NodePath, module: string): boolean {
  const inner = unwrapped(path)
  if (inner.isMemberExpression()) return isModule(inner.get('object'), module)
  return isRequireOf(inner, module)
}

function localsOf(loading: Loading): string[] {
  const { node } = loading
  if (node.type === 'ImportDeclaration') return node.specifiers.map(({ local }) => local.name)
  if (node.type === 'TSImportEqualsDeclaration') return [node.id.name]
  if (node.id.type === 'Identifier') return [node.id.name]
  if (node.id.type !== 'ObjectPattern') return []
  return node.id.properties.flatMap((each) =>
    each.type === 'ObjectProperty' ? (nameOf(each.value) ?? []) : [],
  )
}

function usesOf(
  loading: Loading,
  module: string,
  types: ReadonlyMap<string, readonly NodePath[]>,
): Use[] {
  return localsOf(loading).flatMap((local) => {
    const { referencePaths = [] } = loading.scope.getBinding(local) ?? {}
    const all = new Set([...referencePaths, ...(types.get(local) ?? [])])
    return [...all].map((path) => toUse(path, module))
  })
}

function toUse(path: NodePath, module: string): Use {
  const { parentPath } = path
  const isOwner = parentPath?.isMemberExpression() && path.key === 'object'
  const member = isOwner ? memberName(parentPath) : undefined
  const name = importedFrom(path, module) ?? 'default'
  if (member !== undefined && isOwner && (name === '*' || name === 'default')) {
    return { path: parentPath, name: member }
  }
  return { path, name: name === '*' ? 'default' : name }
}

/** `require('module')(…)` and `app.register(import('module'), …)`, without a name. */
function inlineUses({ program }: Source, module: string): Use[] {
  const uses: Use[] = []
  program.traverse({
    CallExpression(path) {
      if (!isRequireOf(path, module)) return
      const declarator = path.findParent((each) => each.isVariableDeclarator())
      const init = declarator?.get('init') as NodePath | undefined
      if (init !== undefined && isModule(init, module)) return
      uses.push(toUse(path, module))
    },
  })
  return uses
}

/** The name that a use begins with: `ns` of `ns.rateLimit`. */
function rootName(path: NodePath): string {
  const root = path.isMemberExpression() ? path.get('object') : path
  return nameOf(root.node) ?? ''
}

function isOf({ path }: Use, loading: Loading): boolean {
  return localsOf(loading).includes(rootName(path))
}
