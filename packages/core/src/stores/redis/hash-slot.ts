/** The slots of a Redis Cluster. */
const SLOTS = 16_384

/** x^16 + x^12 + x^5 + 1, as Redis Cluster has it: CRC-16/XMODEM. */
const POLYNOMIAL = 0x1021

/** What each byte adds to the checksum. */
const CHECKSUMS = Uint16Array.from({ length: 256 }, (_, byte) => {
  let checksum = byte << 8
  for (let bit = 0; bit < 8; bit += 1) {
    checksum = checksum & 0x8000 ? (checksum << 1) ^ POLYNOMIAL : checksum << 1
  }
  return checksum
})

/**
 * The slot of a key in a Redis Cluster (Redis Cluster specification, "Key distribution model" and
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
  return checksum % SLOTS
}
