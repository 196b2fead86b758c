import { basename } from 'node:path'
import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import MagicString from 'magic-string'
import { wrapped } from './bindings.ts'
import { type Note, writeNotes } from './notes.ts'
import { parseProgram } from './parse.ts'

type Node = Pick<t.Node, 'start' | 'end'>

/** The calls of a file that stay as they are: each by its place, and why. */
export type LeftCalls = Map<string, string>

/** Why something stays that could be rewritten by itself. */
export const JOINT =
  'It works only together with something that stays as it is, here or in another file.'

/** Thrown where it turns out that a call can't be rewritten safely: the file begins again without it. */
export class CallLeft extends Error {
  readonly place: string
  readonly reason: string

  constructor(place: string, reason: string) {
    super(reason)
    this.place = place
    this.reason = reason
  }
}

/** A file that is being rewritten: what is not edited stays as it is, to the last space. */
export class Source {
  readonly name: string
  readonly text: string
  readonly program: NodePath<t.Program>
  readonly edits: MagicString
  /** Names that are declared or global somewhere in the file. */
  readonly names: ReadonlySet<string>
  private readonly notes: Note[] = []
  private readonly replaced: Node[] = []
  /** Names that new declarations of a scope have. */
  private readonly claimed = new Map<t.Node, Set<string>>()
  private readonly leftCalls: LeftCalls
  /** The call that is being rewritten. */
  private call: NodePath | undefined
  /** How many calls are rewritten. */
  rewritten = 0
  /** The packages of which nothing may be rewritten, here or in another file. */
  readonly staying: Set<string>

  /**
   * @param leftCalls what stays as it is
   * @param staying the packages of which nothing is rewritten
   * @throws SourceSyntaxError
   */
  constructor(
    text: string,
    name: string,
    leftCalls: LeftCalls = new Map(),
    staying: ReadonlySet<string> = new Set(),
  ) {
    this.name = name
    this.text = text
    this.leftCalls = leftCalls
    this.staying = new Set(staying)
    this.program = parseProgram(text, name)
    this.edits = new MagicString(text)
    this.names = namesIn(this.program)
  }

  /**
   * Rewrites a call of a limiter, unless it stays as it is, which a comment then says.
   *
   * @param rewrite may call `leave`
   */
  migrate(call: NodePath, rewrite: () => void): void {
    const reason = this.leftCalls.get(placeOf(call))
    if (reason !== undefined) {
      this.noteLeft(call, `this stays as it is. ${reason}`)
      return
    }
    this.call = call
    rewrite()
    this.call = undefined
    this.rewritten += 1
  }

  /** Gives up the call that is being rewritten. @param reason sentences for a reader of the file */
  leave(reason: string): never {
    if (this.call === undefined) throw new Error(reason)
    throw new CallLeft(placeOf(this.call), reason)
  }

  /**
   * Rewrites all calls of a package, or none: they work only together, also in several files.
   *
   * @param calls what is rewritten, and how
   */
  migrateJointly(peer: string, calls: ReadonlyMap<NodePath, () => void>): void {
    if ([...calls.keys()].some((call) => this.isLeft(call))) this.staying.add(peer)
    const stays = this.staying.has(peer)
    for (const [call, rewrite] of calls) {
      this.migrate(call, stays ? () => this.leave(JOINT) : rewrite)
    }
  }

  /** Whether it is, or is a part of, a call that stays as it is. */
  isLeft(path: NodePath): boolean {
    if (this.leftCalls.size === 0) return false
    return path.find((each) => this.leftCalls.has(placeOf(each))) !== null
  }

  /** The text of a node as it stands in the file. */
  original({ start, end }: Node): string {
    return this.text.slice(start as number, end as number)
  }

  /** The text of a node with the edits inside it. */
  current({ start, end }: Node): string {
    return this.edits.slice(start as number, end as number)
  }

  replace(node: Node, text: string): void {
    this.replaced.push(node)
    this.edits.overwrite(node.start as number, node.end as number, text)
  }

  /** Takes a node out, with what is around it. */
  remove(node: Node, start: number, end: number): void {
    this.replaced.push(node)
    this.edits.remove(start, end)
  }

  /** Whether a node is part of what has other text now, or none. */
  isReplaced({ start, end }: Node): boolean {
    return this.replaced.some(
      (each) => Number(each.start) <= Number(start) && Number(end) <= Number(each.end),
    )
  }

  /** @returns false if another declaration that is new in the scope has the name */
  claim(scope: t.Node, name: string): boolean {
    const names = this.claimed.get(scope) ?? new Set()
    if (names.has(name)) return false
    this.claimed.set(scope, names.add(name))
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
    if (this.call !== undefined) this.note(this.call, text)
  }

  /**
   * A prefix for the counts of the call that is being rewritten, as source code: the name of the file, with that of
   * the constant that the call initializes, or a number.
   */
  newPrefix(): string {
    const file = basename(this.name).replace(/\..*$/, '')
    const parent = this.call && wrapped(this.call).parentPath?.node
    const constant =
      parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier' ? parent.id.name : ''
    const [prefix = 'limit'] = /[\w.-]{1,56}/.exec([file, constant].filter(Boolean).join('.')) ?? []
    for (let i = 1; ; i += 1) {
      const each = i === 1 ? prefix : `${prefix}.${i}`
      if (this.claim(this.program.node, `'${each}'`)) return `'${each}'`
    }
  }

  /** The lines of what stays as it is, from 1. */
  get leftLines(): number[] {
    return this.notes
      .filter(({ leaves }) => leaves)
      .map(({ path }) => path.node.loc?.start.line ?? 1)
  }

  /** A comment above what stays as it is. */
  noteLeft(path: NodePath, text: string): void {
    this.notes.push({ path, text, leaves: true })
  }

  /** The spaces that the line of a node begins with. */
  indentOf({ start }: Node): string {
    const lineStart = this.text.lastIndexOf('\n', (start as number) - 1) + 1
    return /^[ \t]*/.exec(this.text.slice(lineStart))?.[0] ?? ''
  }

  /** What the file ends its lines with. */
  get eol(): string {
    return this.text.includes('\r\n') ? '\r\n' : '\n'
  }

  /** The text with all edits and notes. */
  finish(): string {
    writeNotes(this, this.notes)
    return this.edits.toString()
  }
}

function placeOf({ node, type }: NodePath): string {
  return `${type} ${node.start}`
}

function namesIn(program: NodePath<t.Program>): Set<string> {
  const names = new Set([
    ...Object.keys(program.scope.bindings),
    ...Object.keys((program.scope as { globals?: object }).globals ?? {}),
  ])
  program.traverse({
    Scopable({ scope }) {
      for (const name of Object.keys(scope.bindings)) names.add(name)
    },
  })
  return names
}
