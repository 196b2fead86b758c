import { keyedHash } from './keyed-hash.ts'

/** The most keys that a `Map` holds alone. */
const FEW = 16_384
/** Keys that move out of the `Map` whenever one is added beyond that. */
const MOVED = 16
/** The most digits of an integer that V8 may take for the index of an array. */
const MOST_DIGITS = 10

/**
 * Finds the row of a key: few keys in a `Map`, more of them in a `HashIndex`. Among few, a `Map` is
 * faster, since the engine knows the hash of a string already. Among a million, it takes twice the
 * time and the memory (it follows its chains through other keys), and 20 ms to
 * grow or shrink.
 *
 * A `Map` hashes with a secret of the process, so nobody can choose keys that collide there, except
 * integers in Node before 20.20.2, 22.22.2 and 24.14.1: those are never in the `Map`.
 */
export class KeyIndex {
  readonly #maxKeys: number
  readonly #rows: { key(row: number): string | undefined }
  #few: Map<string, number> | undefined = new Map()
  #many: HashIndex | undefined
  #moving: Iterator<[string, number]> | undefined

  /**
   * @param maxKeys the most keys that it will hold
   * @param rows where the keys themselves are kept
   */
  constructor(maxKeys: number, rows: { key(row: number): string | undefined }) {
    this.#maxKeys = maxKeys
    this.#rows = rows
  }

  /** The row of a key, or -1. */
  find(key: string): number {
    const row = this.#few === undefined ? undefined : this.#few.get(key)
    if (row !== undefined) return row
    return this.#many === undefined ? -1 : this.#many.find(key)
  }

  /** Adds a key that is not there yet. */
  add(key: string, row: number): void {
    const few = this.#few
    if (few !== undefined && this.#moving === undefined && !isInteger(key)) {
      few.set(key, row)
      if (few.size === FEW) this.#moving = few.entries()
      return
    }
    this.#many ??= new HashIndex(this.#maxKeys, this.#rows)
    this.#many.add(key, row)
    for (let moved = 0; this.#moving !== undefined && moved < MOVED; moved += 1) this.#moveOne()
  }

  /** Removes a key that is there. */
  delete(key: string): void {
    if (this.#few?.delete(key) !== true) this.#many?.delete(key)
  }

  #moveOne(): void {
    const { value, done } = (this.#moving as Iterator<[string, number]>).next()
    if (done) {
      this.#few = undefined
      this.#moving = undefined
      return
    }
    const [key, row] = value
    this.#few?.delete(key)
    this.#many?.add(key, row)
  }
}

function isInteger(key: string): boolean {
  return key.length <= MOST_DIGITS && /^\d*$/.test(key)
}

/** Keys per table, on average, once the index holds all that it may. */
const PER_TABLE = 4096
/** Entries for which a table has room at first, a power of 2. */
const SMALLEST = 8
/**
 * Entries that a search looks at, at most. With the load of a table, chance leads one key in a
 * hundred million further.
 */
const FARTHEST = 512

/**
 * A hash table from keys to rows, with open addressing. It is in several tables, since one is
 * rebuilt as a whole when it grows, which would hold up a million keys for tens of milliseconds.
 */
export class HashIndex {
  readonly #rows: { key(row: number): string | undefined }
  readonly #hash: (key: string) => number
  /** For each entry of a table the hash of its key, and its row + 1; 0 instead of the row: it is free. */
  readonly tables: (Int32Array | undefined)[]
  readonly #sizes: number[]
  readonly #shift: number
  /** The rows of keys that found no entry near enough, if somebody makes so many collide. */
  readonly #strays = new Map<string, number>()

  /**
   * @param maxKeys the most keys that it will hold
   * @param rows where the keys themselves are kept
   */
  constructor(maxKeys: number, rows: { key(row: number): string | undefined }, hash = keyedHash()) {
    const bits = Math.max(0, Math.ceil(Math.log2(maxKeys / PER_TABLE)))
    this.#rows = rows
    this.#hash = hash
    this.tables = new Array(2 ** bits).fill(undefined)
    this.#sizes = new Array(2 ** bits).fill(0)
    this.#shift = 31 - bits
  }

  /** The row of a key, or -1. */
  find(key: string): number {
    const hash = this.#hash(key)
    const entries = this.tables[this.#tableOf(hash)]
    const at = entries === undefined ? -1 : this.#search(entries, hash, key)
    if (at >= 0) return ((entries as Int32Array)[at + 1] as number) - 1
    return this.#strays.size === 0 ? -1 : (this.#strays.get(key) ?? -1)
  }

  /** Adds a key that is not there yet. */
  add(key: string, row: number): void {
    const hash = this.#hash(key)
    const table = this.#tableOf(hash)
    let entries = this.tables[table]
    if (entries === undefined) {
      entries = new Int32Array(2 * SMALLEST)
      this.tables[table] = entries
    } else if (8 * ((this.#sizes[table] as number) + 1) > 3 * entries.length) {
      entries = this.#grow(table, entries)
    }
    this.#insert(table, entries, hash, row)
  }

  /** Removes a key that is there. */
  delete(key: string): void {
    if (this.#strays.size > 0 && this.#strays.delete(key)) return
    const hash = this.#hash(key)
    const table = this.#tableOf(hash)
    const entries = this.tables[table] as Int32Array
    this.#sizes[table] = (this.#sizes[table] as number) - 1
    close(entries, this.#search(entries, hash, key))
  }

  /** Where the entry of the key is, or without a key the first free one; -1 if there is none near enough. */
  #search(entries: Int32Array, hash: number, key: string | undefined): number {
    const mask = entries.length - 1
    let at = (hash << 1) & mask
    for (let looked = 0; looked < FARTHEST; looked += 1) {
      const row = (entries[at + 1] as number) - 1
      if (row < 0) return key === undefined ? at : -1
      if (key !== undefined && entries[at] === hash && this.#rows.key(row) === key) return at
      at = (at + 2) & mask
    }
    return -1
  }

  #insert(table: number, entries: Int32Array, hash: number, row: number): void {
    const at = this.#search(entries, hash, undefined)
    if (at < 0) {
      this.#strays.set(this.#rows.key(row) as string, row)
      return
    }
    entries[at] = hash
    entries[at + 1] = row + 1
    this.#sizes[table] = (this.#sizes[table] as number) + 1
  }

  #grow(table: number, entries: Int32Array): Int32Array {
    const grown = new Int32Array(entries.length * 2)
    this.tables[table] = grown
    this.#sizes[table] = 0
    for (let at = 0; at < entries.length; at += 2) {
      const row = (entries[at + 1] as number) - 1
      if (row >= 0) this.#insert(table, grown, entries[at] as number, row)
    }
    return grown
  }

  #tableOf(hash: number): number {
    return (hash >>> 1) >>> this.#shift
  }
}

/** Frees an entry and moves up those behind it that collided with it. */
function close(entries: Int32Array, gap: number): void {
  const mask = entries.length - 1
  for (let at = (gap + 2) & mask; entries[at + 1] !== 0; at = (at + 2) & mask) {
    const home = ((entries[at] as number) << 1) & mask
    if (((at - home) & mask) < ((at - gap) & mask)) continue
    entries[gap] = entries[at] as number
    entries[gap + 1] = entries[at + 1] as number
    gap = at
  }
  entries[gap + 1] = 0
}
