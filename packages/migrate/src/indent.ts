/** Where the line of a position begins. */
export function lineStartOf(text: string, position: number): number {
  return text.lastIndexOf('\n', position - 1) + 1
}

/**
 * Lines with another indentation, the first one excepted, which is where it is written. A text with a
 * template that spans lines stays as it is.
 *
 * @param indent the new indentation of the last line
 */
export function reindented(text: string, indent: string): string {
  const [first = '', ...rest] = text.split('\n')
  const last = /^[ \t]*/.exec(rest.at(-1) ?? '')?.[0] ?? ''
  if (rest.length === 0 || last === indent || hasLongTemplate(text)) return text
  const moved = rest.map((line) =>
    line.startsWith(last) ? indent + line.slice(last.length) : line,
  )
  return [first, ...moved].join('\n')
}

/** The statements of a block without its braces, each line with this indentation. */
export function statementsAt(inner: string, indent: string): string {
  const lines = inner
    .replace(/^\s*\n/, '')
    .trimEnd()
    .split('\n')
  const filled = lines.filter((line) => line.trim() !== '')
  const own = Math.min(...filled.map((line) => line.length - line.trimStart().length))
  if (hasLongTemplate(inner)) return lines.join('\n').trimEnd()
  return lines
    .map((line) => (line.trim() === '' ? line.trim() : indent + line.slice(own)))
    .join('\n')
}

function hasLongTemplate(text: string): boolean {
  return /`[^`]*\n[^`]*`/.test(text)
}
