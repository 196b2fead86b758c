import { shardLength } from '../../key/notation.ts'
import { part, subject } from './keys.ts'

/** A hash slot has 14 bits: the first four tell the shard. */
const SHARD_SHIFT = 10
/** A bit for each of the shards. */
export const ALL_SHARDS = 0xffff

/** The shard of a Redis Cluster, 0 … 15, that has the keys of an id. */
export function shardOf(id: string): number {
  const length = shardLength(id)
  return shardOfName(length === 0 ? subject(id) : part(id.slice(1, length - 1)))
}

/** The shard of a Redis Cluster, 0 … 15, that has a key. @param name ASCII */
export function shardOfName(name: string): number {
  return hashSlotOf(name) >> SHARD_SHIFT
}

/** The hash slots of a Redis Cluster. */
const HASH_SLOTS = 16_384

/** x^16 + x^12 + x^5 + 1, as Redis Cluster has it: CRC-16/XMODEM. */
const POLYNOMIAL = 0x1021

/** The terms of the checksum, by byte. */
const CHECKSUMS = Uint16Array.from({ length: 256 }, (_, byte) => {
  let checksum = byte << 8
  for (let bit = 0; bit < 8; bit += 1) {
    checksum = checksum & 0x8000 ? (checksum << 1) ^ POLYNOMIAL : checksum << 1
  }
  return checksum
})

/**
 * The hash slot of a key in a Redis Cluster (Redis Cluster specification, "Key distribution model" and
 * "Hash tags"): of what stands between the first brace and the next closing one, unless that is
 * empty; else of the whole key.
 *
 * @param key ASCII
 */
export function hashSlotOf(key: string): number {
  const open = key.indexOf('{')
  const close = open === -1 ? -1 : key.indexOf('}', open + 1)
  const isTagged = close > open + 1
  const end = isTagged ? close : key.length
  let checksum = 0
  for (let i = isTagged ? open + 1 : 0; i < end; i += 1) {
    const byte = (checksum >> 8) ^ key.charCodeAt(i)
    checksum = ((checksum << 8) & 0xffff) ^ (CHECKSUMS[byte] as number)
  }
  return checksum % HASH_SLOTS
}
