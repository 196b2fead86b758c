/** The new state of one key, which a transaction writes. */
export interface StateChange {
  readonly key: string
  /** The state to write. Undefined: delete the key. */
  readonly state: Uint8Array | undefined
  /** The key may be forgotten after this long, ms: its quota is full again then. */
  readonly ttlMs: number
}

/** Decides on the states of some keys. */
export interface Transaction<T> {
  /** The changes to make, at most one for each key. */
  readonly changes: readonly StateChange[]
  readonly value: T
  /**
   * Whether the value is wrong at any other time, as how long a refused request must wait is. Otherwise it
   * may be decided some ms before it is written.
   */
  readonly needsClock?: boolean
}

/** Decides on the bytes of keys: see {@link TransactionalBackend.transact}. */
export type Decide<T> = (states: readonly (Uint8Array | undefined)[], now: number) => Transaction<T>

/** A place that keeps bytes under keys, and changes several of them atomically. */
export interface TransactionalBackend {
  /**
   * Calls `decide` with the bytes of the keys, and writes its changes, while nothing else can change
   * these keys: all of the changes, or none if it rejects.
   *
   * @param keys distinct, and sorted, so that locks which are taken in this order never wait for
   *   each other; each at most 400 characters of printable ASCII
   * @param decide synchronous; may be called again if the transaction is repeated. Its `states` come
   *   in the order of the keys, undefined where there are none; `now` is ms since the epoch, an
   *   integer, on one clock for all processes: the backend's
   * @param withinMs how long the answer is awaited, ms, 1 … 60,000: a transaction that can't be done
   *   by then is better not done. Undefined: no limit
   */
  transact<T>(keys: readonly string[], decide: Decide<T>, withinMs?: number): Promise<T>
  /** The backend's clock if one was injected, for tests. */
  readonly clock?: (() => number) | undefined
  /** Releases the connections and timers that the backend itself has opened. */
  close?(): void
}

/** A key of a backend, with its bytes; undefined: none. */
export interface ListedKey {
  readonly key: string
  readonly state: Uint8Array | undefined
}

/** Some keys, in the order of their ASCII characters. */
export interface KeyRange {
  /** The key that all of them are above. */
  readonly after: string
  /** The key that all of them are below. */
  readonly before: string
  /** The first of them, so many at most. */
  readonly count: number
}

/** A backend that can list its keys: its store has `inspect`. */
export interface ListingBackend extends TransactionalBackend {
  /**
   * Reads keys, in their order, without changing anything; `now` is when, ms since the epoch. Those
   * that may be forgotten may be missing.
   */
  list(range: KeyRange): Promise<{ readonly keys: readonly ListedKey[]; readonly now: number }>
}
