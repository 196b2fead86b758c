import type { NodePath } from '@babel/traverse'
import type { Source } from './source.ts'

const MARK = '// sluice: '
/** Characters of a line, indentation included. */
const WIDTH = 100

/** Writes a comment above the line on which the nearest statement around a path begins. */
export function noteBefore(source: Source, path: NodePath, text: string): void {
  const { text: file, edits, eol } = source
  const start = anchorOf(file, path)
  const lineStart = file.lastIndexOf('\n', start - 1) + 1
  const indent = file.slice(lineStart, start)
  const comment = wrapped(text, indent)
  const above = commentsAbove(file, lineStart)
  if (!above.includes(words(comment.join('\n')))) {
    edits.appendLeft(lineStart, comment.map((line) => indent + line + eol).join(''))
  }
}

/** Of what begins its line, and can have a comment above it. */
function anchorOf(file: string, path: NodePath): number {
  let start = 0
  let each: NodePath | null = path
  for (; each !== null; each = each.parentPath) {
    start = each.node.start as number
    const lineStart = file.lastIndexOf('\n', start - 1) + 1
    if (file.slice(lineStart, start).trim() === '' && canHaveComment(each)) return start
  }
  return 0
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
