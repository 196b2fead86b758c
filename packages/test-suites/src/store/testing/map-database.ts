import { type ListingBackend, type Transaction, transactionalStore } from '@sluice/transactional'

/** The mistakes of a store. */
export interface Mistakes {
  /** A transaction that fails keeps what it has written. */
  readonly noRollback?: true
  /** Expired states are kept for ever. */
  readonly noExpiry?: true
  /** Keys are compared without spaces at their end, as by SQLite's RTRIM. */
  readonly rtrim?: true
  /** A transaction takes its lock with its first write, as by SQLite's deferred BEGIN: too late. */
  readonly deferred?: true
}

interface Row {
  readonly state: Uint8Array
  readonly until: number
}

/** Rows in a `Map`, used by several stores at the same time, each with a connection of its own. */
export class MapDatabase {
  #rows = new Map<string, Row>()
  readonly #mistakes: Mistakes
  /** Changes with each transaction that writes. */
  #version = 0
  #failing: string | undefined
  #writer: Promise<unknown> = Promise.resolve()

  constructor(mistakes: Mistakes = {}) {
    this.#mistakes = mistakes
  }

  /** A store with a connection of its own. */
  connect(clock: () => number) {
    let last: Promise<unknown> = Promise.resolve()
    const transact: ListingBackend['transact'] = (keys, decide) => {
      const begin = () => this.#transaction(keys, decide, clock)
      // A connection has one transaction at a time, and other connections' wait for the lock.
      const done = last.then(() => (this.#mistakes.deferred ? begin() : this.#locked(begin)))
      last = done.catch(() => {})
      return done
    }
    const list: ListingBackend['list'] = async ({ after, before, count }) => {
      const now = clock()
      const names = [...this.#rows.keys()].filter((key) => key > after && key < before).sort()
      const live = names.filter((key) => this.#find(key, now) !== undefined)
      const keys = live.slice(0, count).map((key) => ({ key, state: this.#find(key, now) }))
      return { keys, now }
    }
    return transactionalStore({ transact, list, clock })
  }

  failWrites(text: string): () => void {
    this.#failing = text
    return () => {
      this.#failing = undefined
    }
  }

  countLeft(text: string, now: number): number {
    for (const [key, { until }] of this.#rows) {
      if (until <= now && !this.#mistakes.noExpiry) this.#rows.delete(key)
    }
    return [...this.#rows.keys()].filter((key) => key.includes(text)).length
  }

  #locked<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#writer.then(act)
    this.#writer = done.catch(() => {})
    return done
  }

  async #transaction<T>(
    keys: readonly string[],
    decide: (states: readonly (Uint8Array | undefined)[], now: number) => Transaction<T>,
    clock: () => number,
  ): Promise<T> {
    await delay()
    const version = this.#version
    const now = clock()
    const { changes, value } = decide(
      keys.map((key) => this.#find(key, now)),
      now,
    )
    await delay()
    if (changes.length === 0) return value
    if (version !== this.#version) throw new Error('the database is locked')
    const rows = this.#mistakes.noRollback ? this.#rows : new Map(this.#rows)
    for (const { key, state, ttlMs } of changes) {
      if (this.#failing !== undefined && key.includes(this.#failing)) throw new Error('disk full')
      if (state === undefined) rows.delete(this.#idOf(key))
      else rows.set(this.#idOf(key), { state, until: now + ttlMs })
    }
    this.#rows = rows
    this.#version += 1
    return value
  }

  #idOf(key: string): string {
    return this.#mistakes.rtrim ? key.trimEnd() : key
  }

  #find(key: string, now: number): Uint8Array | undefined {
    const row = this.#rows.get(this.#idOf(key))
    return row !== undefined && (this.#mistakes.noExpiry || row.until > now) ? row.state : undefined
  }
}

const delay = () => new Promise<void>((resolve) => setImmediate(resolve))
