import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { resolved, unwrapped } from './bindings.ts'
import { OptionsObject } from './options-object.ts'
import type { Source } from './source.ts'

/** An object of options, and what is known of those that are spread into it. */
export interface FoundOptions {
  readonly options: OptionsObject
  /** False if these options are spread into others. If true, the defaults of missing options apply. */
  readonly isWhole: boolean
  /** Whether it has an option itself, from a spread, or perhaps from one that is made elsewhere. */
  mayHave(name: string): boolean
}

/**
 * Types an object that a constant keeps, in TypeScript: the functions in it have parameters without
 * types. To be called when the object is finished.
 *
 * @param type the type of the options
 */
export function typeConstant(source: Source, { options }: FoundOptions, type: () => string): void {
  const { path } = options
  let outer: NodePath = path
  while (outer.parentPath?.isTSAsExpression()) outer = outer.parentPath
  const declarator = outer.parentPath
  if (!declarator?.isVariableDeclarator() || declarator.node.id.type !== 'Identifier') return
  const isTyped = declarator.node.id.typeAnnotation != null
  const hasFunction = /\b_?decision\b/.test(source.current(path.node))
  if (isTyped || !hasFunction || !/\.[cm]?tsx?$/i.test(source.name)) return
  source.edits.appendLeft(outer.node.end as number, ` satisfies Partial<${type()}>`)
}

const ELSEWHERE =
  'some of these options are made elsewhere. Rename them there: https://sluicejs.github.io/sluice/migrating has every name.'

/**
 * The objects that options consist of: the object itself, or that of a constant in the file, and those
 * that are spread into it. Notes what is made elsewhere.
 *
 * @param seen objects that were found before: they are left out
 */
export function findOptions(source: Source, path: NodePath, seen: Set<t.Node>): FoundOptions[] {
  const object = resolved(path)
  if (!object.isObjectExpression()) {
    source.note(path, ELSEWHERE)
    return []
  }
  if (seen.has(object.node)) return []
  seen.add(object.node)
  const options = new OptionsObject(source, object)
  const parts: OptionsObject[] = []
  const found: FoundOptions[] = []
  let isOpen = false
  for (const spread of options.spreads) {
    for (const part of objectsIn(spread.get('argument'))) {
      if (part === undefined) {
        isOpen = true
        source.note(object, ELSEWHERE)
        continue
      }
      const partial = new OptionsObject(source, part)
      parts.push(partial)
      if (seen.has(part.node)) continue
      seen.add(part.node)
      found.push({ options: partial, isWhole: false, mayHave: (name) => partial.has(name) })
    }
  }
  const mayHave = (name: string) =>
    isOpen || options.has(name) || parts.some((each) => each.has(name))
  return [...found, { options, isWhole: true, mayHave }]
}

/** `...common`, `...(x ? { … } : {})`, `...(x && { … })`; undefined: it is made elsewhere. */
function objectsIn(path: NodePath): (NodePath<t.ObjectExpression> | undefined)[] {
  const inner = resolved(path)
  if (inner.isObjectExpression()) return [inner]
  if (inner.isConditionalExpression()) {
    return [...objectsIn(inner.get('consequent')), ...objectsIn(inner.get('alternate'))]
  }
  if (inner.isLogicalExpression()) return objectsIn(inner.get('right'))
  return unwrapped(inner).isNullLiteral() ? [] : [undefined]
}
