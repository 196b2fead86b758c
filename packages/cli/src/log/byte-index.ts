import { randomInt } from 'node:crypto'
import { withRoom } from './columns.ts'

/** The most bytes of a key that is kept: any IPv4 address and most names. */
const LONGEST = 23
/** The entries of the table at first, a power of 2. */
const SMALLEST = 1024
/** Places that a search looks at: a key beyond them is not kept. */
const MOST_LOOKS = 64

/**
 * Finds the numbers of keys by their bytes in a log: it makes no text of them, and looks up only a
 * few integers. A hash table with open addressing.
 */
export class ByteIndex {
  /** A key's hash and its entry + 1 for each place; 0 instead of the entry: the place is free. */
  #places = new Int32Array(2 * SMALLEST)
  #size = 0
  /** The number of each entry. */
  #numbers = new Int32Array(SMALLEST)
  /** The bytes of each entry, after their count. */
  #bytes = new Uint8Array(SMALLEST * (LONGEST + 1))
  /** Unknown to clients. Colliding keys can be chosen all the same, so every search is bounded. */
  readonly #seed: number

  constructor(seed = randomInt(2 ** 31)) {
    this.#seed = seed
  }

  /** The number of the key between `start` and `end`, or -1. */
  find(key: Uint8Array, start: number, end: number): number {
    if (end - start > LONGEST) return -1
    const place = this.#search(key, start, end, this.#hash(key, start, end))
    const entry = place < 0 ? 0 : (this.#places[place + 1] as number)
    return entry === 0 ? -1 : (this.#numbers[entry - 1] as number)
  }

  /** Adds a key that is not there yet, unless it is too long, or its search would be. */
  add(key: Uint8Array, start: number, end: number, number: number): void {
    if (end - start > LONGEST) return
    if (4 * (this.#size + 1) > this.#places.length) this.#grow()
    const hash = this.#hash(key, start, end)
    const place = this.#search(key, start, end, hash)
    if (place < 0) return
    const entry = this.#size
    this.#size += 1
    this.#numbers = withRoom(this.#numbers, entry)
    this.#numbers[entry] = number
    const at = entry * (LONGEST + 1)
    this.#bytes = withRoom(this.#bytes, at + LONGEST)
    this.#bytes[at] = end - start
    this.#bytes.set(key.subarray(start, end), at + 1)
    this.#places[place] = hash
    this.#places[place + 1] = entry + 1
  }

  /** The key's place, or the free place at which the search for it ends; -1: the search is too long. */
  #search(key: Uint8Array, start: number, end: number, hash: number): number {
    const places = this.#places
    const mask = places.length - 1
    let place = (hash << 1) & mask
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      const entry = places[place + 1] as number
      if (entry === 0) return place
      if (places[place] === hash && this.#holds(entry - 1, key, start, end)) return place
      place = (place + 2) & mask
    }
    return -1
  }

  #holds(entry: number, key: Uint8Array, start: number, end: number): boolean {
    const at = entry * (LONGEST + 1)
    if (this.#bytes[at] !== end - start) return false
    for (let i = start; i < end; i += 1) {
      if (key[i] !== this.#bytes[at + 1 + i - start]) return false
    }
    return true
  }

  #grow(): void {
    const before = this.#places
    this.#places = new Int32Array(before.length * 2)
    const mask = this.#places.length - 1
    for (let from = 0; from < before.length; from += 2) {
      if (before[from + 1] === 0) continue
      let place = ((before[from] as number) << 1) & mask
      while (this.#places[place + 1] !== 0) place = (place + 2) & mask
      this.#places[place] = before[from] as number
      this.#places[place + 1] = before[from + 1] as number
    }
  }

  /** FNV-1a with a seed, mixed once more at the end. */
  #hash(key: Uint8Array, start: number, end: number): number {
    let hash = this.#seed
    for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ (key[i] as number), 16_777_619)
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    return hash ^ (hash >>> 13)
  }
}
