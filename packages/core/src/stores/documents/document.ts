import { random32 } from '#platform'

/** Characters of the version with which a document begins. */
const VERSION_LENGTH = 16

/** Where the document of a prefix is kept: no client's key is `#`. The names of keyspaces have a colon. */
export function documentKey(prefix: string, name: string): string {
  return `${prefix}:{#}:${name}`
}

/** The version of a document; '' of an empty one. */
export function versionOf(text: string): string {
  return text.slice(0, VERSION_LENGTH)
}

/** The lines of a document as text, with a version that no other text has. '' if there are none. */
export function writeDocument(lines: readonly string[]): string {
  if (lines.length === 0) return ''
  const version = [random32(), random32()].map((bits) => bits.toString(16).padStart(8, '0'))
  return [version.join(''), ...lines].join('\n')
}

/** The lines that {@link writeDocument} was given. */
export function linesOf(text: string): string[] {
  return text === '' ? [] : text.slice(VERSION_LENGTH + 1).split('\n')
}
