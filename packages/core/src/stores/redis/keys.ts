import { digest } from '../../key/digest.ts'
import { hashSlotOf } from './hash-slot.ts'

/**
 * The most characters of an id that is kept as it is: a longer one becomes a digest, so that no client can
 * make keys grow.
 */
const MAX_PLAIN = 64

/** A slot has 14 bits: the first four tell the part. */
const PART_SHIFT = 10

/**
 * An id as it stands between the braces of a Redis key, where Redis Cluster takes the slot from.
 * Plain ids stand as they are. Long ones and those with braces, spaces, control or non-ASCII
 * characters become `#` and the SHA-256 of their UTF-16 code units: so two ids never share a key
 * (lone surrogates included), none moves the slot of another, and none grows the key. Plain ids
 * hold no `#`.
 */
export function subject(id: string): string {
  if (id.length === 0 || id.length > MAX_PLAIN) return digest(id)
  for (let i = 0; i < id.length; i += 1) {
    const code = id.charCodeAt(i)
    const isPlain = code > 0x20 && code < 0x7f && code !== 0x23 && code !== 0x7b && code !== 0x7d
    if (!isPlain) return digest(id)
  }
  return id
}

/** The part of a Redis Cluster, 0 … 15, that has the keys of an id. */
export function partOf(id: string): number {
  return hashSlotOf(subject(id)) >> PART_SHIFT
}
