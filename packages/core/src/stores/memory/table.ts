import { bounded, copied } from '../../key/digest.ts'
import { KeyIndex } from './key-index.ts'
import { Slots } from './slots.ts'

/** Keys freed in one go, at most. */
const BATCH = 256

/** The keys of one policy and their states. */
export class Table {
  size = 0
  slots = new Slots()
  private readonly maxKeys: number
  private index: KeyIndex

  /** @param maxKeys the most keys that it will hold */
  constructor(maxKeys: number) {
    this.maxKeys = maxKeys
    this.index = new KeyIndex(maxKeys, this.slots)
  }

  /** The slot of a key, or -1. */
  find(key: string): number {
    return this.index.find(bounded(key))
  }

  /** Adds a key that is not there yet; returns its slot. */
  add(key: string): number {
    const id = copied(bounded(key))
    const slot = this.slots.claim(id)
    this.index.add(id, slot)
    this.size += 1
    return slot
  }

  delete(key: string): void {
    const slot = this.find(key)
    if (slot >= 0) this.free(slot)
  }

  free(slot: number): void {
    this.index.delete(this.slots.key(slot) as string)
    this.slots.release(slot)
    this.size -= 1
  }

  /** Forgets every key. */
  clear(): void {
    this.size = 0
    this.slots = new Slots()
    this.index = new KeyIndex(this.maxKeys, this.slots)
  }

  /** True if there may be keys that can be freed. */
  isDue(now: number): boolean {
    return this.slots.dueAt <= now
  }

  /** Frees what has expired on one page, at most a batch; returns how many. */
  sweep(now: number): number {
    const expired = this.slots.expired(now, BATCH)
    for (const slot of expired) this.free(slot)
    return expired.length
  }
}
