import { randomInt } from 'node:crypto'

/** Up to here a `Map` holds all keys. */
const FEW = 16_384
/** Keys per shard, on average, once the index holds all that it may. */
const PER_SHARD = 4096
/** Entries of a shard at first, a power of 2. */
const SMALLEST = 8

/** Entries of a shard: pairs of a key's hash and its slot + 1, where 0 means that the place is free. */
interface Shard {
  entries: Int32Array
  size: number
}

/**
 * Finds the slot of a key. Few keys are in a `Map`; more of them in a hash table with open
 * addressing, in shards, since a table is rebuilt as a whole when it grows, which would hold up a
 * million keys for tens of milliseconds. A `Map` takes twice the memory and, among a million keys,
 * twice the time: it follows its chains through keys that it does not look for.
 */
export class KeyIndex {
  private readonly slots: { key(slot: number): string | undefined }
  private few: Map<string, number> | undefined = new Map()
  private readonly shards: (Shard | undefined)[]
  private readonly shift: number
  /** Unknown to clients, so that nobody can aim keys at one place. */
  private readonly seed = randomInt(2 ** 31)

  /**
   * @param maxKeys the most keys that it will hold
   * @param slots where the keys themselves are kept
   */
  constructor(maxKeys: number, slots: { key(slot: number): string | undefined }) {
    const bits = Math.max(0, Math.ceil(Math.log2(maxKeys / PER_SHARD)))
    this.slots = slots
    this.shards = new Array<Shard | undefined>(2 ** bits).fill(undefined)
    this.shift = 31 - bits
  }

  /** The slot of a key, or -1. */
  find(key: string): number {
    if (this.few !== undefined) return this.few.get(key) ?? -1
    const hash = this.hash(key)
    const shard = this.shards[this.shardOf(hash)]
    if (shard === undefined) return -1
    const place = this.place(shard.entries, key, hash)
    return (shard.entries[place + 1] as number) - 1
  }

  /** Adds a key that is not there yet. */
  add(key: string, slot: number): void {
    if (this.few !== undefined) {
      if (this.few.size < FEW) {
        this.few.set(key, slot)
        return
      }
      this.leaveMap(this.few)
    }
    const hash = this.hash(key)
    const number = this.shardOf(hash)
    let shard = this.shards[number]
    if (shard === undefined) {
      shard = { entries: new Int32Array(2 * SMALLEST), size: 0 }
      this.shards[number] = shard
    }
    if (8 * (shard.size + 1) > 3 * shard.entries.length) grow(shard)
    insert(shard.entries, hash, slot + 1)
    shard.size += 1
  }

  /** Takes out a key that is there. */
  delete(key: string): void {
    if (this.few !== undefined) {
      this.few.delete(key)
      return
    }
    const hash = this.hash(key)
    const shard = this.shards[this.shardOf(hash)] as Shard
    shard.size -= 1
    close(shard.entries, this.place(shard.entries, key, hash))
  }

  private leaveMap(keys: Map<string, number>): void {
    this.few = undefined
    for (const [key, slot] of keys) this.add(key, slot)
  }

  /** Where the key stands, or the free place at which its search ends. */
  private place(entries: Int32Array, key: string, hash: number): number {
    const mask = entries.length - 1
    let place = (hash << 1) & mask
    for (;;) {
      const next = entries[place + 1] as number
      if (next === 0) return place
      if (entries[place] === hash && this.slots.key(next - 1) === key) return place
      place = (place + 2) & mask
    }
  }

  private shardOf(hash: number): number {
    return (hash >>> 1) >>> this.shift
  }

  /** FNV-1a with a seed, mixed once more at the end. */
  private hash(key: string): number {
    let hash = this.seed
    for (let i = 0; i < key.length; i += 1) {
      hash = Math.imul(hash ^ key.charCodeAt(i), 16_777_619)
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    return hash ^ (hash >>> 13)
  }
}

function insert(entries: Int32Array, hash: number, next: number): void {
  const mask = entries.length - 1
  let place = (hash << 1) & mask
  while (entries[place + 1] !== 0) place = (place + 2) & mask
  entries[place] = hash
  entries[place + 1] = next
}

function grow(shard: Shard): void {
  const { entries } = shard
  shard.entries = new Int32Array(entries.length * 2)
  for (let place = 0; place < entries.length; place += 2) {
    const next = entries[place + 1] as number
    if (next !== 0) insert(shard.entries, entries[place] as number, next)
  }
}

/** Frees a place and moves up what stood behind it because its own place was taken. */
function close(entries: Int32Array, gap: number): void {
  const mask = entries.length - 1
  let place = gap
  for (;;) {
    place = (place + 2) & mask
    const next = entries[place + 1] as number
    if (next === 0) break
    const home = ((entries[place] as number) << 1) & mask
    if (((place - home) & mask) < ((place - gap) & mask)) continue
    entries[gap] = entries[place] as number
    entries[gap + 1] = next
    gap = place
  }
  entries[gap + 1] = 0
}
