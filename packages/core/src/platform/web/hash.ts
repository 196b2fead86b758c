// SHA-1, SHA-256 (FIPS 180-4) and HMAC (RFC 2104): the web has them only as promises, and a decision in
// memory is none. The tests compare them with Node's.

/** Bytes of a block. */
const BLOCK = 64
/** Bytes of the length behind the message. */
const LENGTH = 8

const left = (word: number, by: number) => (word << by) | (word >>> (32 - by))
const right = (word: number, by: number) => (word >>> by) | (word << (32 - by))
const at = (words: Int32Array, i: number) => words[i] as number

const SHA1 = {
  /** H(0), §5.3. */
  initial: [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0],
  /** Words of the message schedule. */
  rounds: 80,
  /** The word after those that are there, §6.1.2, step 1. */
  word: (w: Int32Array, t: number) =>
    left(at(w, t - 3) ^ at(w, t - 8) ^ at(w, t - 14) ^ at(w, t - 16), 1),
  /** Steps 2 and 3. */
  mix(state: Int32Array, w: Int32Array) {
    let [a = 0, b = 0, c = 0, d = 0, e = 0] = state
    for (let t = 0; t < 80; t += 1) {
      const next = (left(a, 5) + e + at(w, t) + sha1Term(t, b, c, d)) | 0
      e = d
      d = c
      c = left(b, 30)
      b = a
      a = next
    }
    return [a, b, c, d, e]
  },
}

/** f(b, c, d) + K, §4.1.1 and §4.2.1. */
function sha1Term(t: number, b: number, c: number, d: number): number {
  if (t < 20) return ((b & c) ^ (~b & d)) + 0x5a827999
  if (t < 40) return (b ^ c ^ d) + 0x6ed9eba1
  if (t < 60) return ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc
  return (b ^ c ^ d) + 0xca62c1d6
}

/** §6.2.2 */
const SHA256: typeof SHA1 = {
  initial: [
    ...[0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a],
    ...[0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19],
  ],
  rounds: 64,
  word(w, t) {
    const [x, y] = [at(w, t - 15), at(w, t - 2)]
    const first = right(x, 7) ^ right(x, 18) ^ (x >>> 3)
    const second = right(y, 17) ^ right(y, 19) ^ (y >>> 10)
    return at(w, t - 16) + first + at(w, t - 7) + second
  },
  mix(state, w) {
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
    for (let t = 0; t < 64; t += 1) {
      const choice = (e & f) ^ (~e & g)
      const one = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + choice + at(K, t) + at(w, t)
      const majority = (a & b) ^ (a & c) ^ (b & c)
      const other = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + majority
      h = g
      g = f
      f = e
      e = (d + one) | 0
      d = c
      c = b
      b = a
      a = (one + other) | 0
    }
    return [a, b, c, d, e, f, g, h]
  },
}

/** §4.2.2 */
const K = Int32Array.of(
  ...[0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4],
  ...[0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe],
  ...[0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f],
  ...[0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7],
  ...[0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc],
  ...[0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b],
  ...[0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116],
  ...[0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3],
  ...[0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7],
  0xc67178f2,
)

export const sha1 = (message: Uint8Array) => digest(SHA1, message)
export const sha256 = (message: Uint8Array) => digest(SHA256, message)

function digest({ initial, rounds, word, mix }: typeof SHA1, message: Uint8Array): Uint8Array {
  const blocks = padded(message)
  const state = Int32Array.from(initial)
  const w = new Int32Array(rounds)
  for (let from = 0; from < blocks.byteLength; from += BLOCK) {
    for (let t = 0; t < 16; t += 1) w[t] = blocks.getInt32(from + 4 * t)
    for (let t = 16; t < rounds; t += 1) w[t] = word(w, t)
    for (const [i, mixed] of mix(state, w).entries()) state[i] = at(state, i) + mixed
  }
  const bytes = new DataView(new ArrayBuffer(state.byteLength))
  for (const [i, each] of state.entries()) bytes.setInt32(4 * i, each)
  return new Uint8Array(bytes.buffer)
}

/** §5.1.1: a one, zeros, and the length in bits. */
function padded(message: Uint8Array): DataView {
  const { length } = message
  const bytes = new Uint8Array(BLOCK * Math.ceil((length + 1 + LENGTH) / BLOCK))
  bytes.set(message)
  bytes[length] = 0x80
  const blocks = new DataView(bytes.buffer)
  blocks.setBigUint64(blocks.byteLength - LENGTH, BigInt(8 * length))
  return blocks
}

export function hmacSha256(secret: Uint8Array, message: Uint8Array): Uint8Array {
  const key = new Uint8Array(BLOCK)
  key.set(secret.length > BLOCK ? sha256(secret) : secret)
  const keyed = (pad: number, data: Uint8Array) =>
    sha256(Uint8Array.of(...key.map((byte) => byte ^ pad), ...data))
  return keyed(0x5c, keyed(0x36, message))
}
