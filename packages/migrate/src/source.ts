import { basename, dirname, relative } from 'node:path'
import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import MagicString from 'magic-string'
import { wrapped } from './bindings.ts'
import { lineStartOf } from './indent.ts'
import type { Parsed } from './parse.ts'

type Node = Pick<t.Node, 'start' | 'end'>

/** A comment for a reader of the file, and its place. */
export interface Note {
  readonly path: NodePath
  readonly text: string
  /** It says why something stays as it is. */
  readonly leaves?: boolean
}

/** The comments above what stays begin with this. */
export const STAYS = 'this stays as it is. '

/** The calls of a file that stay as they are: each by its place, and why. */
export type LeftCalls = Map<string, string>

/** Something that stays, because of which others stay too. */
export interface Culprit extends Left {
  /** The name of its file. */
  readonly file: string
  /** Which one it is of those that stay in its file, from 0. */
  readonly index: number
}

/** The calls of each package, by its name, that stay, because of which nothing of it is rewritten. */
export type Staying = ReadonlyMap<string, readonly Culprit[]>

/** A call that stays as it is. */
export interface Left {
  /** Its line, from 1, in the text as it was; of a {@link Culprit} in the text as it will be. */
  readonly line: number
  /** Sentences for a reader of the file. */
  readonly reason: string
}

/** Thrown where it turns out that a call can't be rewritten safely. */
class CallLeft extends Error {}

/** A file that is being rewritten: what is not edited stays as it is, to the last space. */
export class Source {
  readonly name: string
  readonly text: string
  readonly program: NodePath<t.Program>
  readonly edits: MagicString
  /** Names that are declared or global somewhere in the file. */
  readonly names: ReadonlySet<string>
  /** The files of the application that are known, with this one. */
  readonly files: readonly Parsed[]
  readonly dependencies: Parsed['dependencies']
  /** Comments for a reader of the file, in the order in which they were found. */
  readonly notes: Note[] = []
  readonly #replaced: (Node & { readonly text: string })[] = []
  /** Names that new declarations of a scope have. */
  readonly #claimed = new Map<t.Node, Set<string>>()
  readonly #leftCalls: LeftCalls
  readonly #staying: Staying
  /** The calls that work only together, by the name of their package. */
  readonly #joint = new Map<string, Set<string>>()
  /** The call that is being rewritten. */
  #call: NodePath | undefined
  /** The calls that are rewritten. */
  readonly rewritten: NodePath[] = []

  /**
   * @param leftCalls what stays as it is; `leave` adds to it
   * @param staying the packages of which nothing is rewritten
   * @param files the files of the application
   */
  constructor(
    parsed: Parsed,
    leftCalls: LeftCalls = new Map(),
    staying: Staying = new Map(),
    files: readonly Parsed[] = [parsed],
  ) {
    this.files = files
    this.dependencies = parsed.dependencies
    this.name = parsed.name
    this.text = parsed.text
    this.program = parsed.program
    this.names = parsed.names
    this.edits = new MagicString(parsed.text)
    this.#leftCalls = leftCalls
    this.#staying = staying
  }

  /**
   * Rewrites a call of a limiter, unless it stays as it is, which a comment then says.
   *
   * @param rewrite may call `leave`: what it has edited until then is wrong, and the file begins again
   */
  migrate(call: NodePath, rewrite: () => void): void {
    const reason = this.#leftCalls.get(placeOf(call))
    if (reason !== undefined) {
      this.noteLeft(call, reason)
      return
    }
    this.#call = call
    try {
      rewrite()
    } catch (error) {
      if (!(error instanceof CallLeft)) throw error
    }
    this.#call = undefined
    this.rewritten.push(call)
  }

  /** Gives up the call that is being rewritten. @param reason sentences for a reader of the file */
  leave(reason: string): never {
    if (this.#call === undefined) throw new Error(reason)
    this.#leftCalls.set(placeOf(this.#call), reason)
    throw new CallLeft(reason)
  }

  /** Gives up a call that was rewritten. @param reason sentences for a reader of the file */
  giveUp(call: NodePath, reason: string): void {
    this.#leftCalls.set(placeOf(call), reason)
  }

  /**
   * Rewrites all calls of a package, or none: they work only together, also in several files.
   *
   * @param calls what is rewritten, and how
   * @param isNeeded whether the others work only together with these
   */
  migrateJointly(peer: string, calls: ReadonlyMap<NodePath, () => void>, isNeeded = true): void {
    const places = this.#joint.get(peer) ?? new Set()
    this.#joint.set(peer, places)
    const culprits = this.#staying.get(peer)
    for (const [call, rewrite] of calls) {
      if (isNeeded) places.add(placeOf(call))
      this.migrate(call, culprits ? () => this.leave(jointReason(this.name, culprits)) : rewrite)
    }
  }

  /** Another file of the application, as a path from the folder of this one. */
  pathTo(file: string): string {
    return pathFrom(this.name, file)
  }

  /** Whether nothing of a package is rewritten. */
  isStaying(peer: string): boolean {
    return this.#staying.has(peer)
  }

  /** The calls that stay, by the name of their package, if others work only together with them. */
  get culprits(): Map<string, Culprit[]> {
    return new Map(
      [...this.#joint].map(([peer, places]) => [
        peer,
        this.#leaving.flatMap(({ path, text }, index) =>
          places.has(placeOf(path)) ? [{ file: this.name, index, ...leftOf(path, text) }] : [],
        ),
      ]),
    )
  }

  /** Whether it is, or is a part of, a call that stays as it is. */
  isLeft(path: NodePath): boolean {
    if (this.#leftCalls.size === 0) return false
    return path.find((each) => this.#leftCalls.has(placeOf(each))) !== null
  }

  /** The text of a node as it stands in the file. */
  original({ start, end }: Node): string {
    return this.text.slice(start as number, end as number)
  }

  /** The text of a node with the edits inside it. */
  current({ start, end }: Node): string {
    return this.edits.slice(start as number, end as number)
  }

  /** Whether a node has other text now, or is a part of what has. */
  isEdited(node: Node): boolean {
    try {
      return this.current(node) !== this.original(node)
    } catch {
      // Its edges are within what has other text.
      return true
    }
  }

  replace(node: Node, text: string): void {
    this.#replaced.push({ ...node, text })
    this.edits.overwrite(node.start as number, node.end as number, text)
  }

  /** Takes a node out, with what is around it. */
  remove(node: Node, start: number, end: number): void {
    this.#replaced.push({ ...node, text: '' })
    this.edits.remove(start, end)
  }

  /** Whether a node is part of what has other text now, or none. */
  isReplaced({ start, end }: Node): boolean {
    return this.#replaced.some(
      (each) => Number(each.start) <= Number(start) && Number(end) <= Number(each.end),
    )
  }

  /** Whether it had a name that no new text has. */
  isGone(node: Node): boolean {
    const name = this.original(node)
    return this.isReplaced(node) && !this.#replaced.some(({ text }) => text.includes(name))
  }

  /** Whether a position is within a node that has other text now, not at its edges. */
  isWithinReplaced = (position: number): boolean =>
    this.#replaced.some((each) => Number(each.start) < position && position < Number(each.end))

  /** @returns false if another declaration that is new in the scope has the name */
  claim(scope: t.Node, name: string): boolean {
    const names = this.#claimed.get(scope) ?? new Set()
    if (names.has(name)) return false
    this.#claimed.set(scope, names.add(name))
    return true
  }

  /** A name that nothing in the file has, and no other declaration that is new in the scope. */
  newName(scope: t.Node, name: string): string {
    for (let i = 1; ; i += 1) {
      const each = i === 1 ? name : `${name}${i}`
      if (!this.names.has(each) && this.claim(scope, each)) return each
    }
  }

  /** A comment above the statement, unless the file has the same one already. */
  note(path: NodePath, text: string): void {
    if (!this.notes.some((note) => note.text === text)) this.notes.push({ path, text })
  }

  /** A comment above the call that is being rewritten. */
  noteCall(text: string): void {
    if (this.#call !== undefined) this.note(this.#call, text)
  }

  /**
   * A prefix for the counts of the call that is being rewritten, as source code: the name of the file, with that of
   * the constant that the call initializes, or a number.
   */
  newPrefix(): string {
    const parent = this.#call && wrapped(this.#call).parentPath?.node
    const constant =
      parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier' ? parent.id.name : ''
    const parts = [this.#ownName, constant].filter(Boolean)
    const [prefix = 'limit'] = /[\w.-]{1,56}/.exec(parts.join('.')) ?? []
    for (let i = 1; ; i += 1) {
      const each = i === 1 ? prefix : `${prefix}.${i}`
      if (this.claimPrefix(each)) return `'${each}'`
    }
  }

  /** @returns false if another limiter of this file has the prefix */
  claimPrefix(prefix: string): boolean {
    return this.claim(this.program.node, `prefix ${prefix}`)
  }

  /** The name of the file without its ending, with that of its folder if other files have it too. */
  get #ownName(): string {
    const stem = stemOf(this.name)
    const isCommon =
      stem === 'index' || this.files.some(({ name }) => name !== this.name && stemOf(name) === stem)
    return isCommon ? [basename(dirname(this.name)), stem].join('.').replace(/^\.+/, '') : stem
  }

  /** How many calls were found: those that are rewritten, and those that stay. */
  get found(): number {
    return this.rewritten.length + this.#leaving.length
  }

  get #leaving(): Note[] {
    return this.notes.filter(({ leaves }) => leaves)
  }

  /** The calls that stay as they are. */
  get left(): Left[] {
    return this.#leaving.map(({ path, text }) => leftOf(path, text))
  }

  /** What stays as it is, in the order of its comments. */
  get leftPaths(): NodePath[] {
    return this.#leaving.map(({ path }) => path)
  }

  /** A comment above what stays as it is. @param reason sentences for a reader of the file */
  noteLeft(path: NodePath, reason: string): void {
    this.notes.push({ path, text: STAYS + reason, leaves: true })
  }

  /** The spaces that the line of a node begins with. */
  indentOf({ start }: Node): string {
    return /^[ \t]*/.exec(this.text.slice(lineStartOf(this.text, start as number)))?.[0] ?? ''
  }

  /** The line end of the file. */
  get eol(): string {
    return this.text.includes('\r\n') ? '\r\n' : '\n'
  }
}

/** Whether a file has types. */
export function isTypeScript({ name }: Source): boolean {
  return /\.[cm]?tsx?$/i.test(name)
}

/** The reason of a call that waits for others, for a reader of another file. */
function jointReason(name: string, [first, ...others]: readonly Culprit[]): string {
  const where = ({ file, line }: Culprit) =>
    file === name ? `line ${line}` : `${pathFrom(name, file)}:${line}`
  if (first === undefined) return ''
  const more = others.slice(0, 3).map(where)
  if (others.length > more.length) more.push(`${others.length - more.length} others`)
  const also = more.length === 0 ? '' : ` (and ${more.join(', ')})`
  return `It works only together with ${where(first)}${also}, which stays. There: ${first.reason}`
}

function stemOf(name: string): string {
  return basename(name).replace(/\..*$/, '')
}

function pathFrom(name: string, file: string): string {
  const path = relative(dirname(name), file).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

function leftOf({ node }: NodePath, text: string): Left {
  return { line: node.loc?.start.line ?? 1, reason: text.replace(STAYS, '') }
}

function placeOf({ node, type }: NodePath): string {
  return `${type} ${node.start}`
}
