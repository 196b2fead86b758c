import { createHash } from 'node:crypto'

/** Characters. */
const DIGEST_LENGTH = 44
/** Longer keys are kept as a digest, so that no client can make them fill the memory. Characters. */
const MAX_PLAIN = 256

/**
 * Replaces an id that is too long or has unusual characters: `#` and the SHA-256 of its UTF-16
 * code units, which distinguishes lone surrogates too.
 */
export function digest(id: string): string {
  return `#${createHash('sha256').update(id, 'utf16le').digest('base64url')}`
}

/** The form of a key in memory, unique: a key that looks like a digest becomes a digest too. */
export function bounded(key: string): string {
  const like = key.length === DIGEST_LENGTH && key.startsWith('#')
  return key.length > MAX_PLAIN || like ? digest(key) : key
}

/**
 * A copy of the text in its own memory: a slice of a longer text keeps all of that alive. Joining
 * makes a text of parts, which V8 writes out in one piece when one of its characters is read.
 */
export function copied(text: string): string {
  const copy = text.slice(0, 1) + text.slice(1)
  copy.charCodeAt(0)
  return copy
}
