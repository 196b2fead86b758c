import { bounded, copied, DIGEST_LENGTH } from '../../key/digest.ts'
import { KeyIndex } from './key-index.ts'
import { Rows } from './rows.ts'

/** Keys freed in one go, at most. */
const BATCH = 256

/** The keys of one policy and their states. */
export class Table {
  size = 0
  rows = new Rows()
  private readonly maxKeys: number
  private index: KeyIndex

  /** @param maxKeys the most keys that it will hold */
  constructor(maxKeys: number) {
    this.maxKeys = maxKeys
    this.index = new KeyIndex(maxKeys, this.rows)
  }

  /** The row of a key, or -1. */
  find(key: string): number {
    return this.index.find(key.length < DIGEST_LENGTH ? key : bounded(key))
  }

  /** Adds a key that is not there yet; returns its row. */
  add(key: string): number {
    const id = copied(bounded(key))
    const row = this.rows.claim(id)
    this.index.add(id, row)
    this.size += 1
    return row
  }

  delete(key: string): void {
    const row = this.find(key)
    if (row >= 0) this.free(row)
  }

  free(row: number): void {
    this.index.delete(this.rows.key(row) as string)
    this.rows.release(row)
    this.size -= 1
  }

  /** Forgets every key. */
  clear(): void {
    this.size = 0
    this.rows = new Rows()
    this.index = new KeyIndex(this.maxKeys, this.rows)
  }

  /** True if there may be keys that can be freed. */
  isDue(now: number): boolean {
    return this.rows.dueAt <= now
  }

  /** Frees what has expired on one page, at most a batch; returns how many. */
  sweep(now: number): number {
    const expired = this.rows.expired(now, BATCH)
    for (const row of expired) this.free(row)
    return expired.length
  }
}
