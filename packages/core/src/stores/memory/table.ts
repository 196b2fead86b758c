import { KeyIndex } from './key-index.ts'
import { EXHAUSTED, Slots } from './slots.ts'

/** Freed or chosen in one go at most, so that no pass takes long. */
const BATCH = 64

/**
 * The keys of one policy and their states. What it is asked to free it frees a shard at a time:
 * a pass over one shard takes some tens of microseconds.
 */
export class Table {
  readonly slots = new Slots()
  /** Stands for all keys that find no room because every other one is being refused. */
  readonly overflow = this.slots.claim()
  private readonly index: KeyIndex
  /** Per shard: no entry of it can be freed before this time, ms. */
  private dueAt = [Infinity]
  /** Per shard: keys nearest to a full quota when last looked at, with their standing then. */
  private victims: [key: string, standing: number][][] = [[]]
  /** Per shard: until then a pass would find only exhausted entries, ms. */
  private stuckUntil = [0]

  constructor(maxKeys: number) {
    this.index = new KeyIndex(maxKeys)
  }

  get size(): number {
    return this.index.size
  }

  get shards(): number {
    return this.index.shards.length
  }

  find(key: string): number | undefined {
    return this.index.get(key)
  }

  add(key: string): number {
    const slot = this.slots.claim()
    this.index.add(key, slot)
    if (this.dueAt.length !== this.index.shards.length) this.adoptShards()
    return slot
  }

  delete(key: string): void {
    const slot = this.index.get(key)
    if (slot === undefined) return
    this.index.delete(key)
    this.slots.release(slot)
  }

  /** Must be told of every write: when the key's slot can be freed. */
  expires(key: string, freeAt: number): void {
    const shard = this.dueAt.length === 1 ? 0 : this.index.shardOf(key)
    if (freeAt < (this.dueAt[shard] as number)) this.dueAt[shard] = freeAt
  }

  shardOf(key: string): number {
    return this.index.shardOf(key)
  }

  isDue(shard: number, now: number): boolean {
    return (this.dueAt[shard] as number) <= now
  }

  /** Frees expired entries of a shard, at most a batch; returns how many. */
  sweep(shard: number, now: number): number {
    let freed = 0
    let dueAt = Infinity
    for (const [key, slot] of this.index.shards[shard] as Map<string, number>) {
      const freeAt = Math.abs(this.slots.freeAt(slot))
      if (freeAt > now) {
        if (freeAt < dueAt) dueAt = freeAt
        continue
      }
      if (freed === BATCH) return freed
      this.index.delete(key)
      this.slots.release(slot)
      freed += 1
    }
    this.dueAt[shard] = dueAt
    return freed
  }

  /** Frees the entry of a shard that is nearest to a full quota; false if all are exhausted. */
  evict(shard: number, now: number): boolean {
    if ((this.stuckUntil[shard] as number) > now) return false
    const victims = this.victims[shard] as [string, number][]
    for (let pass = 0; pass < 2; pass += 1) {
      for (let victim = victims.pop(); victim !== undefined; victim = victims.pop()) {
        const slot = this.index.get(victim[0])
        if (slot === undefined || this.slots.standing(slot) > victim[1]) continue
        this.delete(victim[0])
        return true
      }
      if (pass === 0) this.chooseVictims(shard, victims)
    }
    this.stuckUntil[shard] = Math.min(now + 100, this.dueAt[shard] as number)
    return false
  }

  /** Fills `victims` with the keys in best standing, the best one last. */
  private chooseVictims(shard: number, victims: [string, number][]): void {
    const entries = this.index.shards[shard] as Map<string, number>
    const wanted = Math.min(BATCH, Math.ceil(entries.size / 16))
    const counts = new Uint32Array(EXHAUSTED + 1)
    for (const slot of entries.values()) {
      const standing = this.slots.standing(slot)
      counts[standing] = (counts[standing] as number) + 1
    }
    let worst = 0
    let better = 0
    while (worst < EXHAUSTED - 1 && better + (counts[worst] as number) < wanted) {
      better += counts[worst] as number
      worst += 1
    }
    let places = wanted - better
    for (const [key, slot] of entries) {
      const standing = this.slots.standing(slot)
      if (standing > worst || (standing === worst && places-- <= 0)) continue
      victims.push([key, standing])
    }
    victims.sort((one, other) => other[1] - one[1])
  }

  private adoptShards(): void {
    const earliest = Math.min(...this.dueAt)
    const { length } = this.index.shards
    this.dueAt = new Array<number>(length).fill(earliest)
    this.victims = Array.from({ length }, () => [])
    this.stuckUntil = new Array<number>(length).fill(0)
  }
}
