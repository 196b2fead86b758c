import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import MagicString from 'magic-string'
import { type Note, writeNotes } from './notes.ts'
import { parseProgram } from './parse.ts'

type Node = Pick<t.Node, 'start' | 'end'>

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

  /** @throws SourceSyntaxError */
  constructor(text: string, name: string) {
    this.name = name
    this.text = text
    this.program = parseProgram(text, name)
    this.edits = new MagicString(text)
    this.names = namesIn(this.program)
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
