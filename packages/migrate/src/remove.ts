import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { lineStartOf } from './indent.ts'
import type { Source } from './source.ts'

type Node = Pick<t.Node, 'start' | 'end'>

/** Removes a node. If nothing else is on its lines, they go with it, and a comment behind it. */
export function removeLines(source: Source, node: Node): void {
  const { text, edits } = source
  const [start, end] = linesOf(text, node) ?? [node.start as number, node.end as number]
  edits.remove(start, end)
}

const SPACE_AND_COMMENTS = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y

/** Whether a comma is next behind a position, on this line or a later one. */
export function isCommaBehind(text: string, position: number): boolean {
  SPACE_AND_COMMENTS.lastIndex = position
  SPACE_AND_COMMENTS.test(text)
  return text.charAt(SPACE_AND_COMMENTS.lastIndex) === ','
}

/**
 * The lines of a node: from the beginning of its first to that of the line behind it; undefined if something
 * else is on these lines, or its comma is on a later one. A comma and a comment at the end are part of it.
 */
export function linesOf(text: string, { start, end }: Node): [number, number] | undefined {
  const from = lineStartOf(text, start as number)
  if (text.slice(from, start as number).trim() !== '') return undefined
  const rest = /^[ \t]*([,;]?)[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*?\*\/[ \t]*)?\r?(?:\n|$)/.exec(
    text.slice(end as number),
  )
  if (rest === null || (rest[1] === '' && isCommaBehind(text, end as number))) return undefined
  return [from, (end as number) + rest[0].length]
}

/** `a = 1` of `const a = 1, b = 2`; the last one with its declaration. */
export function removeDeclarator(source: Source, path: NodePath<t.VariableDeclarator>): void {
  const declaration = path.parentPath as NodePath<t.VariableDeclaration>
  const { declarations } = declaration.node
  if (declarations.length === 1) {
    removeLines(source, declaration.node)
    return
  }
  removeFromList(source, declarations, path.node)
}

/** Removes a node from a list, with the comma that is no longer needed. */
export function removeFromList(source: Source, list: readonly Node[], node: Node): void {
  const i = list.indexOf(node)
  const [previous, next] = [list[i - 1], list[i + 1]]
  if (next) source.edits.remove(node.start as number, next.start as number)
  else source.edits.remove((previous?.end ?? node.start) as number, node.end as number)
}

/** The word `new`: what is left is a call. */
export function removeNew(source: Source, { node }: NodePath<t.NewExpression>): void {
  const start = node.start as number
  const [word] = /^new\s*/.exec(source.text.slice(start)) as RegExpExecArray
  source.edits.remove(start, start + word.length)
}
