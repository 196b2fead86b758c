import { randomInt } from 'node:crypto'

/** Keys per shard, on average, once the index holds all that it may. */
const PER_SHARD = 4096
/** Places of a shard at first, a power of 2. */
const SMALLEST = 8

interface Shard {
  /** For each place a key's hash and its slot + 1; 0 instead of that: the place is free. */
  places: Int32Array
  size: number
}

/**
 * A hash table from keys to slots, with open addressing. It is in shards, since a table is rebuilt
 * as a whole when it grows, which would hold up a million keys for tens of milliseconds.
 */
export class HashIndex {
  private readonly slots: { key(slot: number): string | undefined }
  private readonly shards: (Shard | undefined)[]
  private readonly shift: number
  /** Unknown to clients: keys that meet in one process don't in the next. */
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
    const hash = this.hash(key)
    const shard = this.shards[this.shardOf(hash)]
    if (shard === undefined) return -1
    return (shard.places[this.search(shard.places, key, hash) + 1] as number) - 1
  }

  /** Adds a key that is not there yet. */
  add(key: string, slot: number): void {
    const hash = this.hash(key)
    const number = this.shardOf(hash)
    let shard = this.shards[number]
    if (shard === undefined) {
      shard = { places: new Int32Array(2 * SMALLEST), size: 0 }
      this.shards[number] = shard
    }
    shard.size += 1
    if (8 * shard.size > 3 * shard.places.length) grow(shard)
    insert(shard.places, hash, slot + 1)
  }

  /** Takes out a key that is there. */
  delete(key: string): void {
    const hash = this.hash(key)
    const shard = this.shards[this.shardOf(hash)] as Shard
    shard.size -= 1
    close(shard.places, this.search(shard.places, key, hash))
  }

  /** Where the key stands, or the free place at which the search for it ends. */
  private search(places: Int32Array, key: string, hash: number): number {
    const mask = places.length - 1
    let place = (hash << 1) & mask
    for (;;) {
      const entry = places[place + 1] as number
      if (entry === 0) return place
      if (places[place] === hash && this.slots.key(entry - 1) === key) return place
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

function insert(places: Int32Array, hash: number, entry: number): void {
  const mask = places.length - 1
  let place = (hash << 1) & mask
  while (places[place + 1] !== 0) place = (place + 2) & mask
  places[place] = hash
  places[place + 1] = entry
}

function grow(shard: Shard): void {
  const { places } = shard
  shard.places = new Int32Array(places.length * 2)
  for (let place = 0; place < places.length; place += 2) {
    const entry = places[place + 1] as number
    if (entry !== 0) insert(shard.places, places[place] as number, entry)
  }
}

/** Frees a place and moves up what stands behind it only because that place was taken. */
function close(places: Int32Array, gap: number): void {
  const mask = places.length - 1
  for (let place = (gap + 2) & mask; places[place + 1] !== 0; place = (place + 2) & mask) {
    const home = ((places[place] as number) << 1) & mask
    if (((place - home) & mask) < ((place - gap) & mask)) continue
    places[gap] = places[place] as number
    places[gap + 1] = places[place + 1] as number
    gap = place
  }
  places[gap + 1] = 0
}
