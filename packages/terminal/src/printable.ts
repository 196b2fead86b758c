/** C0, DEL and C1, halves of a character, line separators, and what turns the direction of writing. */
const OBEYED = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const NAMED: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/**
 * A text on one line, in which a terminal or a browser finds nothing to obey: such characters are
 * shown, as `\n` or `\u001b`. All output of the command passes through here.
 */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0')
    return NAMED[character] ?? `\\u${code}`
  })
}

/**
 * A message of several lines, each printable. All but the first are indented, so that none looks like another
 * message.
 */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n  ')
}

/** A report in which each text is printable, and each name. */
export function printableReport<T>(value: T): T {
  if (typeof value === 'string') return printable(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(printableReport) as T
  const entries = Object.entries(value).map(([name, each]) => [
    printable(name),
    printableReport(each),
  ])
  return Object.fromEntries(entries) as T
}
