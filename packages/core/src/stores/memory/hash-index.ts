import { type Hash, keyedHash } from './keyed-hash.ts'

/** Keys per shard, on average, once the index holds all that it may. */
const PER_SHARD = 4096
/** Places of a shard at first, a power of 2. */
const SMALLEST = 8
/**
 * Places that a search looks at, at most. With the load of a shard, chance leads one key in a
 * hundred million further.
 */
const FARTHEST = 512

interface Shard {
  /** A key's hash and its row + 1 for each place; 0 instead of the row: the place is free. */
  places: Int32Array
  size: number
}

/**
 * A hash table from keys to rows, with open addressing. It is in shards, since a table is rebuilt
 * as a whole when it grows, which would hold up a million keys for tens of milliseconds.
 */
export class HashIndex {
  private readonly rows: { key(row: number): string | undefined }
  private readonly hash: Hash
  private readonly shards: (Shard | undefined)[]
  private readonly shift: number
  /** The rows of keys that found no place near enough, if somebody makes so many collide. */
  private readonly strays = new Map<string, number>()

  /**
   * @param maxKeys the most keys that it will hold
   * @param rows where the keys themselves are kept
   */
  constructor(maxKeys: number, rows: { key(row: number): string | undefined }, hash = keyedHash()) {
    const bits = Math.max(0, Math.ceil(Math.log2(maxKeys / PER_SHARD)))
    this.rows = rows
    this.hash = hash
    this.shards = new Array<Shard | undefined>(2 ** bits).fill(undefined)
    this.shift = 31 - bits
  }

  /** The row of a key, or -1. */
  find(key: string): number {
    const hash = this.hash(key)
    const shard = this.shards[this.shardOf(hash)]
    if (shard === undefined) return -1
    const place = this.search(shard.places, key, hash)
    if (place >= 0) return (shard.places[place + 1] as number) - 1
    return this.strays.size === 0 ? -1 : (this.strays.get(key) ?? -1)
  }

  /** Adds a key that is not there yet. */
  add(key: string, row: number): void {
    const hash = this.hash(key)
    const number = this.shardOf(hash)
    let shard = this.shards[number]
    if (shard === undefined) {
      shard = { places: new Int32Array(2 * SMALLEST), size: 0 }
      this.shards[number] = shard
    }
    if (8 * (shard.size + 1) > 3 * shard.places.length) this.grow(shard)
    this.insert(shard, hash, row)
  }

  /** Removes a key that is there. */
  delete(key: string): void {
    if (this.strays.size > 0 && this.strays.delete(key)) return
    const hash = this.hash(key)
    const shard = this.shards[this.shardOf(hash)] as Shard
    shard.size -= 1
    close(shard.places, this.search(shard.places, key, hash))
  }

  /** The place of the key, or -1. */
  private search(places: Int32Array, key: string, hash: number): number {
    const mask = places.length - 1
    let place = (hash << 1) & mask
    for (let looked = 0; looked < FARTHEST; looked += 1) {
      const entry = places[place + 1] as number
      if (entry === 0) return -1
      if (places[place] === hash && this.rows.key(entry - 1) === key) return place
      place = (place + 2) & mask
    }
    return -1
  }

  private insert(shard: Shard, hash: number, row: number): void {
    const { places } = shard
    const mask = places.length - 1
    let place = (hash << 1) & mask
    for (let looked = 0; looked < FARTHEST; looked += 1) {
      if (places[place + 1] === 0) {
        places[place] = hash
        places[place + 1] = row + 1
        shard.size += 1
        return
      }
      place = (place + 2) & mask
    }
    this.strays.set(this.rows.key(row) as string, row)
  }

  private grow(shard: Shard): void {
    const { places } = shard
    shard.places = new Int32Array(places.length * 2)
    shard.size = 0
    for (let place = 0; place < places.length; place += 2) {
      const entry = places[place + 1] as number
      if (entry !== 0) this.insert(shard, places[place] as number, entry - 1)
    }
  }

  private shardOf(hash: number): number {
    return (hash >>> 1) >>> this.shift
  }
}

/** Frees a place and moves up the keys behind it that collided with it. */
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
