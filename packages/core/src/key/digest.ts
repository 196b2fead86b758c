import { hash } from '#platform'

/** Characters. A shorter key is its own form in memory: see `bounded`. */
export const DIGEST_LENGTH = 44
/**
 * The most characters of a key that is kept as it is: a longer one becomes a digest, so that no client can
 * fill the memory.
 */
const MAX_PLAIN = 256

/**
 * Replaces an id that is too long or has unusual characters: `#` and the SHA-256 of its UTF-16
 * code units, which distinguishes lone surrogates too.
 */
export function digest(id: string): string {
  return `#${hash('sha256', id, 'utf16le', 'base64url')}`
}

/** An integer, 1 … 2^52, that stands for an id in every process. */
export function numberOf(id: string): number {
  return 1 + Number.parseInt(hash('sha256', id, 'utf16le', 'hex').slice(0, 13), 16)
}

/** The form of a key in memory, unique: a key that looks like a digest becomes a digest too. */
export function bounded(key: string): string {
  const like = key.length === DIGEST_LENGTH && key.startsWith('#')
  return key.length > MAX_PLAIN || like ? digest(key) : key
}

/** V8 always copies a slice that is shorter than this. Characters. */
const SHORTEST_SLICE = 13

/**
 * The text in memory of its own: a slice of a longer text keeps all of that alive. Joining
 * makes a text of parts, which V8 writes out in one piece when one of its characters is read.
 */
export function copied(text: string): string {
  // The same object is found faster than a copy.
  if (text.length < SHORTEST_SLICE) return text
  const copy = text.slice(0, 1) + text.slice(1)
  copy.charCodeAt(0)
  return copy
}
