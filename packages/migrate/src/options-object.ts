import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { optionHere } from '@sluice/core/internal'
import { nameOf } from './bindings.ts'
import { isCommaBehind, linesOf } from './remove.ts'
import type { Source } from './source.ts'

type Property = NodePath<t.ObjectProperty | t.ObjectMethod>

/** An option and its value, as source code. */
export type Entry = readonly [name: string, value: string]

/** What is spread into an object. */
export function spreadsOf(path: NodePath<t.ObjectExpression>): NodePath<t.SpreadElement>[] {
  return path.get('properties').filter((each) => each.isSpreadElement())
}

type Change =
  | { readonly kind: 'rename'; readonly to: string; readonly value: string | undefined }
  | { readonly kind: 'replace'; readonly entries: readonly Entry[] }

/** An object of options in the source. Its changes are carried out by `finish`. */
export class OptionsObject {
  readonly source: Source
  readonly path: NodePath<t.ObjectExpression>
  readonly spreads: readonly NodePath<t.SpreadElement>[]
  /** False if these options are spread into others. If true, the defaults of missing options apply. */
  readonly isWhole: boolean
  /** The objects that are spread into it. */
  readonly #parts: readonly OptionsObject[]
  readonly #properties: ReadonlyMap<string, Property>
  /** Properties that a later one of the same name makes ineffective. */
  readonly #shadowed: readonly Property[]
  readonly #changes = new Map<string, Change>()
  readonly #added: Entry[] = []

  constructor(
    source: Source,
    path: NodePath<t.ObjectExpression>,
    isWhole = true,
    parts: readonly OptionsObject[] = [],
  ) {
    this.source = source
    this.path = path
    this.isWhole = isWhole
    this.#parts = parts
    const all = path.get('properties')
    this.spreads = spreadsOf(path)
    const named = all.flatMap((each): (readonly [string, Property])[] => {
      if (!each.isObjectProperty() && !each.isObjectMethod()) return []
      const name = each.node.computed ? undefined : nameOf(each.node.key)
      return name === undefined ? [] : [[name, each] as const]
    })
    this.#properties = new Map(named)
    this.#shadowed = named.flatMap(([name, each]) =>
      this.#properties.get(name) === each ? [] : [each],
    )
  }

  /** The options that nothing has been done with. */
  get unknown(): string[] {
    return [...this.#properties.keys()].filter((name) => !this.#changes.has(name))
  }

  has(name: string): boolean {
    return this.#properties.has(name)
  }

  /** Whether it has an option itself, or perhaps from a spread. */
  readonly mayHave = (name: string): boolean =>
    this.has(name) || this.#parts.some((part) => part.has(name))

  /** The value of an option that is given once, here or in a spread. */
  soleValue(name: string): NodePath | undefined {
    const [value, ...more] = [this, ...this.#parts].flatMap((each) => each.value(name) ?? [])
    return more.length > 0 ? undefined : value
  }

  /** A comment above the options. */
  note(text: string): void {
    this.source.note(this.path, text)
  }

  /** Gives up the call that is being rewritten. @param reason sentences for a reader of the file */
  leave(reason: string): never {
    return this.source.leave(reason)
  }

  /** The value of an option; of a method the method itself. */
  value(name: string): NodePath | undefined {
    const property = this.#properties.get(name)
    return property?.isObjectProperty() ? (property.get('value') as NodePath) : property
  }

  /** The value of an option as source code. */
  text(name: string): string | undefined {
    const value = this.value(name)
    return value && this.source.original(value.node)
  }

  /** Whether an option is this literal. */
  is(name: string, value: boolean): boolean {
    return this.value(name)?.isBooleanLiteral({ value }) === true
  }

  /** Gives it its name here. @param value unchanged by default */
  rename(name: string, value?: string): void {
    this.renameTo(name, optionHere(name)?.option ?? name, value)
  }

  renameTo(name: string, to: string, value?: string): void {
    if (this.has(name)) this.#changes.set(name, { kind: 'rename', to, value })
  }

  replace(name: string, ...entries: readonly Entry[]): void {
    if (this.has(name)) this.#changes.set(name, { kind: 'replace', entries })
  }

  remove(...names: readonly string[]): void {
    for (const name of names) this.replace(name)
  }

  /**
   * Writes an entry in place of the first of these options, and removes the others.
   * @param isAdded whether it is added if none of them is given
   */
  merge(names: readonly string[], entry: Entry, isAdded = false): void {
    const first = names.find((name) => this.has(name))
    this.remove(...names)
    if (first !== undefined) this.replace(first, entry)
    else if (isAdded) this.add(entry)
  }

  /** Adds entries after the others. */
  add(...entries: readonly Entry[]): void {
    this.#added.push(...entries)
  }

  finish(): void {
    for (const [name, change] of this.#changes) {
      const property = this.#properties.get(name) as Property
      if (change.kind === 'rename') this.#applyRename(property, change.to, change.value)
      else if (change.entries.length > 0) {
        this.source.replace(property.node, this.#join(change.entries))
      }
    }
    const removed = this.#removedNodes()
    const kept = this.path.node.properties.filter((node) => !removed.has(node))
    if (kept.length === 0 && removed.size + this.#added.length > 0) {
      const text = this.#join(this.#added)
      this.source.replace(this.path.node, text === '' ? '{}' : `{ ${text} }`)
      return
    }
    this.#applyRemovals(removed)
    if (this.#added.length > 0) this.#append(kept.at(-1) as t.Node, removed)
  }

  #removedNodes(): Set<t.Node> {
    const isRemoved = ([, change]: [string, Change]) =>
      change.kind === 'replace' && change.entries.length === 0
    const removed = [...this.#changes]
      .filter(isRemoved)
      .map(([name]) => this.#properties.get(name) as Property)
    return new Set([...removed, ...this.#shadowed].map(({ node }) => node))
  }

  #applyRename(property: Property, to: string, value: string | undefined): void {
    const { node } = property
    if (property.isObjectProperty()) {
      if (property.node.shorthand) {
        const local = value ?? this.source.original(property.node.value)
        this.source.replace(node, to === local ? to : `${to}: ${local}`)
        return
      }
      if (value !== undefined) this.source.replace(property.node.value, value)
    } else if (value !== undefined) {
      this.source.replace(node, `${to}: ${value}`)
      return
    }
    if (this.source.original(node.key) !== to) this.source.replace(node.key, to)
  }

  #applyRemovals(removed: ReadonlySet<t.Node>): void {
    const source = this.source
    const nodes = this.path.node.properties
    const lastKept = nodes.findLastIndex((node) => !removed.has(node))
    const isLineEach = this.#areLines(nodes.slice(lastKept + 1))
    for (const [i, node] of nodes.entries()) {
      if (!removed.has(node)) continue
      const lines = linesOf(source.text, node)
      const [previous, next] = [nodes[i - 1], nodes[i + 1]]
      if (i > lastKept && !isLineEach) {
        source.remove(node, previous?.end as number, node.end as number)
      } else if (lines !== undefined) source.remove(node, ...lines)
      else source.remove(node, node.start as number, next?.start as number)
    }
  }

  #areLines(nodes: readonly t.Node[]): boolean {
    return nodes.every((node) => linesOf(this.source.text, node) !== undefined)
  }

  #append(last: t.Node, removed: ReadonlySet<t.Node>): void {
    const { text, edits } = this.source
    const lines = this.isMultiline && this.#areLines([...removed]) ? linesOf(text, last) : undefined
    if (lines === undefined) {
      edits.appendLeft(last.end as number, `${this.#separator}${this.#join(this.#added)}`)
      return
    }
    if (!isCommaBehind(text, last.end as number)) edits.appendLeft(last.end as number, ',')
    const indent = this.source.indentOf(last)
    edits.appendLeft(lines[1], `${indent}${this.#join(this.#added)},${this.source.eol}`)
  }

  get isMultiline(): boolean {
    const [first] = this.path.node.properties
    const { start } = this.path.node
    return (
      first !== undefined &&
      this.source.text.slice(start as number, first.start as number).includes('\n')
    )
  }

  get #separator(): string {
    const [first] = this.path.node.properties
    if (!this.isMultiline || first === undefined) return ', '
    return `,${this.source.eol}${this.source.indentOf(first)}`
  }

  #join(entries: readonly Entry[]): string {
    return entries
      .map(([name, value]) => (name === value ? name : `${name}: ${value}`))
      .join(this.#separator)
  }
}
