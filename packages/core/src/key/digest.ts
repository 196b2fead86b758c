import { createHash } from 'node:crypto'

/** Characters. */
const DIGEST_LENGTH = 44
/** Longer keys are kept as a digest, so that no client can make them fill the memory. Characters. */
const MAX_PLAIN = 256

/**
 * Stands for an id that is too long or too odd to stand for itself: `#` and the SHA-256 of its
 * UTF-16 code units, which tells lone surrogates apart too.
 */
export function digest(id: string): string {
  return `#${createHash('sha256').update(id, 'utf16le').digest('base64url')}`
}

/** What stands for a key in memory. None for another: what reads like a digest becomes one too. */
export function bounded(key: string): string {
  const like = key.length === DIGEST_LENGTH && key.startsWith('#')
  return key.length > MAX_PLAIN || like ? digest(key) : key
}

/**
 * The same text in memory of its own: a part of a longer text keeps all of that alive. Joining makes
 * a text of parts, which V8 writes out in one piece when one of its characters is read.
 */
export function copied(text: string): string {
  const copy = text.slice(0, 1) + text.slice(1)
  copy.charCodeAt(0)
  return copy
}
