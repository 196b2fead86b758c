import { randomInt } from 'node:crypto'

/** Up to here one `Map` holds all keys. */
const SINGLE = 16_384

/**
 * A map from keys to slots in several shards. V8 rebuilds a `Map` as a whole when it grows or has
 * emptied, which takes some 20 ms with a million entries; with shards of a few thousand it takes
 * a fraction of one. Small indexes are one shard, which saves the hash.
 */
export class KeyIndex {
  shards: Map<string, number>[] = [new Map()]
  size = 0
  private readonly mask: number
  /** Unknown to clients, so that nobody can aim keys at one shard. */
  private readonly seed = randomInt(2 ** 31)

  /** @param maxKeys the most keys that it will hold */
  constructor(maxKeys: number) {
    this.mask = maxKeys <= SINGLE ? 0 : 2 ** Math.ceil(Math.log2(maxKeys / 4096)) - 1
  }

  get(key: string): number | undefined {
    return (this.shards[this.shardOf(key)] as Map<string, number>).get(key)
  }

  /** Adds a key that is not there yet. */
  add(key: string, slot: number): void {
    if (this.size === SINGLE && this.shards.length === 1 && this.mask > 0) this.split()
    ;(this.shards[this.shardOf(key)] as Map<string, number>).set(key, slot)
    this.size += 1
  }

  delete(key: string): void {
    if ((this.shards[this.shardOf(key)] as Map<string, number>).delete(key)) this.size -= 1
  }

  shardOf(key: string): number {
    return this.shards.length === 1 ? 0 : this.hash(key) & this.mask
  }

  private split(): void {
    const [all] = this.shards as [Map<string, number>]
    this.shards = Array.from({ length: this.mask + 1 }, () => new Map<string, number>())
    for (const [key, slot] of all) {
      ;(this.shards[this.hash(key) & this.mask] as Map<string, number>).set(key, slot)
    }
  }

  /** FNV-1a with a seed, over at most 32 characters spread over the key. */
  private hash(key: string): number {
    const stride = 1 + (key.length >> 5)
    let hash = this.seed
    for (let i = key.length - 1; i >= 0; i -= stride) {
      hash = Math.imul(hash ^ key.charCodeAt(i), 16_777_619)
    }
    return hash ^ (hash >>> 15)
  }
}
