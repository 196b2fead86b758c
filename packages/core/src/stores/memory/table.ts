import { bounded, copied, DIGEST_LENGTH } from '../../key/digest.ts'
import { HashIndex } from './hash-index.ts'
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
  private readonly maxKeys: number
  private readonly rows: { key(row: number): string | undefined }
  private few: Map<string, number> | undefined = new Map()
  private many: HashIndex | undefined
  private moving: Iterator<[string, number]> | undefined

  /**
   * @param maxKeys the most keys that it will hold
   * @param rows where the keys themselves are kept
   */
  constructor(maxKeys: number, rows: { key(row: number): string | undefined }) {
    this.maxKeys = maxKeys
    this.rows = rows
  }

  /** The row of a key, or -1. */
  find(key: string): number {
    const row = this.few === undefined ? undefined : this.few.get(key)
    if (row !== undefined) return row
    return this.many === undefined ? -1 : this.many.find(key)
  }

  /** Adds a key that is not there yet. */
  add(key: string, row: number): void {
    const { few } = this
    if (few === undefined || this.moving !== undefined || isInteger(key)) {
      this.many ??= new HashIndex(this.maxKeys, this.rows)
      this.many.add(key, row)
      if (few !== undefined && this.moving !== undefined) this.moveSome(few, this.moving)
      return
    }
    few.set(key, row)
    if (few.size === FEW) this.moving = few.entries()
  }

  /** Removes a key that is there. */
  delete(key: string): void {
    if (this.few?.delete(key) !== true) this.many?.delete(key)
  }

  private moveSome(few: Map<string, number>, moving: Iterator<[string, number]>): void {
    for (let moved = 0; moved < MOVED; moved += 1) {
      const next = moving.next()
      if (next.done) {
        this.few = undefined
        this.moving = undefined
        return
      }
      const [key, row] = next.value
      few.delete(key)
      this.many?.add(key, row)
    }
  }
}

function isInteger(key: string): boolean {
  if (key.length > MOST_DIGITS) return false
  for (let i = 0; i < key.length; i += 1) {
    const unit = key.charCodeAt(i)
    if (unit < 48 || unit > 57) return false
  }
  return true
}
