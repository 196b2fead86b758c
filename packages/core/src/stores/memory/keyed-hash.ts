import { random32 } from '#platform'

/**
 * How the keys of one table are hashed: the same key always alike, to any 32-bit integer. It is
 * HalfSipHash-1-3 of a key's UTF-16 code units, as Linux hashes the keys of its tables: without
 * `k0` and `k1` nobody can choose keys that collide. A hash that merely begins with a secret would not
 * do: whether two keys of one length collide under FNV-1a depends on only 16 bits of its seed.
 * The round is written twice: its variables stay in registers only within one function.
 *
 * @param k0 32 bits of the secret
 * @param k1 32 more
 */
export function keyedHash(k0 = random32(), k1 = random32()): (key: string) => number {
  const first = k0 | 0
  const second = k1 | 0
  return (key) => {
    let v0 = first
    let v1 = second
    let v2 = first ^ 0x6c796765
    let v3 = second ^ 0x74656462
    const { length } = key
    // Two units a word, one round each.
    let i = 1
    for (; i < length; i += 2) {
      const word = key.charCodeAt(i - 1) | (key.charCodeAt(i) << 16)
      v3 ^= word
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
    }
    // The last word: the unit left over and the length in bytes. Then three rounds without one.
    let word = (length << 25) | (i === length ? key.charCodeAt(i - 1) : 0)
    let end = 0xff
    for (let round = 0; round < 4; round += 1) {
      v3 ^= word
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
      v2 ^= end
      word = end = 0
    }
    return v1 ^ v3
  }
}
