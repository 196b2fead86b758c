import { createHash } from 'node:crypto'

/** Characters. */
export const DIGEST_LENGTH = 44

/**
 * Stands for an id that is too long or too odd to stand for itself: `#` and the SHA-256 of its
 * UTF-16 code units, which tells lone surrogates apart too.
 */
export function digest(id: string): string {
  return `#${createHash('sha256').update(id, 'utf16le').digest('base64url')}`
}
