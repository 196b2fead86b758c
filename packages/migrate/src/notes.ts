import type { NodePath } from '@babel/traverse'
import type MagicString from 'magic-string'
import { lineStartOf } from './indent.ts'
import { type Source, STAYS } from './source.ts'

const MARK = '// sluice: '
/** Characters of a line, indentation included. */
const WIDTH = 100

/**
 * The text of a file with all edits, and its comments: each above the line on which the nearest statement around its
 * path begins. A comment of a run before goes if what it is about does not stay any more.
 */
export function finishedText(source: Source): string {
  const { text: file, edits, eol } = source
  const split = new Set<number>()
  const staying = new Set(source.leftPaths.map((path) => anchorOf(source, path)))
  for (const path of source.rewritten) {
    const start = anchorOf(source, path)
    if (!staying.has(start)) removeStays(file, edits, lineStartOf(file, start))
  }
  for (const { text, start } of shortened(source)) {
    const lineStart = lineStartOf(file, start)
    const before = file.slice(lineStart, start)
    const isOnOwnLine = before.trim() === ''
    const indent = isOnOwnLine ? before : ''
    const comment = wrapped(text, indent)
    const lines = comment.map((line) => indent + line + eol).join('')
    if (!isOnOwnLine) {
      edits.appendLeft(start, split.has(start) ? lines : eol + lines)
      split.add(start)
    } else if (!commentsAbove(file, lineStart).includes(words(comment.join('\n')))) {
      edits.appendLeft(lineStart, lines)
    }
  }
  return edits.toString()
}

/** The notes with their places. What stays for the reason of the one above it says only that. */
function shortened(source: Source) {
  const placed = source.notes.map((note) => ({ ...note, start: anchorOf(source, note.path) }))
  const first = new Map<string, number>()
  for (const { text, start } of placed) first.set(text, Math.min(start, first.get(text) ?? start))
  const seen = new Set<string>()
  return placed.flatMap((note) => {
    const isRepeated = note.leaves === true && note.start !== first.get(note.text)
    const text = isRepeated ? `${STAYS}The reason is the one above.` : note.text
    const key = `${note.start} ${text}`
    if (seen.has(key)) return []
    seen.add(key)
    return [{ ...note, text }]
  })
}

/**
 * The beginning of what begins its line around the path, and can have a comment above it. If nothing does:
 * that of the outermost statement, which then gets a line of its own.
 */
function anchorOf({ text: file, isWithinReplaced }: Source, path: NodePath): number {
  let outermost = 0
  for (let each: NodePath | null = path; each !== null; each = each.parentPath) {
    if (!canHaveComment(each)) continue
    const start = each.node.start as number
    if (isWithinReplaced(start) || isWithinReplaced(lineStartOf(file, start))) continue
    outermost = start
    if (file.slice(lineStartOf(file, outermost), outermost).trim() === '') break
  }
  return outermost
}

function canHaveComment(path: NodePath): boolean {
  if (path.isProgram()) return false
  return (
    path.isStatement() ||
    path.isDecorator() ||
    path.listKey === 'body' ||
    path.listKey === 'elements'
  )
}

/** Removes the comment above a line that says that something stays: up to the next comment of ours. */
function removeStays(file: string, edits: MagicString, lineStart: number): void {
  const lines = file.slice(0, lineStart).split('\n').slice(0, -1)
  let end = lineStart
  for (const line of lines.reverse()) {
    const start = lineStartOf(file, end - 1)
    const text = line.trim()
    if (!text.startsWith('//')) return
    if (text.startsWith(MARK + STAYS.trim())) {
      edits.remove(start, blockEnd(file, start, lineStart))
      return
    }
    end = start
  }
}

function blockEnd(file: string, start: number, lineStart: number): number {
  const behind = file.slice(start, lineStart)
  const next = behind.slice(MARK.length).search(new RegExp(`^[ \\t]*${MARK}`, 'm'))
  return next === -1 ? lineStart : start + MARK.length + next
}

/** The comment lines directly above a line, as words. */
function commentsAbove(file: string, lineStart: number): string {
  const lines = file.slice(0, lineStart).split('\n').slice(0, -1)
  const first = lines.findLastIndex((line) => !line.trim().startsWith('//'))
  return words(lines.slice(first + 1).join('\n'))
}

function words(comment: string): string {
  return comment.replace(/^\s*\/\//gm, '').replace(/\s+/g, ' ')
}

function wrapped(text: string, indent: string): string[] {
  const lines = [MARK.trim()]
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1) as string
    if (indent.length + last.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] += ` ${word}`
    else lines.push(`// ${word}`)
  }
  return lines
}
