/** What a transaction writes to one key. */
export interface Change {
  readonly key: string
  /** Undefined: delete it. */
  readonly state: Uint8Array | undefined
  /** The key may be forgotten after this long, ms: its quota is whole again then. */
  readonly ttlMs: number
}

/** What is decided on the states of some keys. */
export interface Transaction<T> {
  /** At most one for each key. */
  readonly changes: readonly Change[]
  readonly value: T
}

/** A place that can keep bytes under keys, and change several of them as one. */
export interface TransactionalBackend {
  /**
   * Calls `decide` with the bytes of the keys, and writes its changes, while nobody else can change
   * these keys: all of the changes, or none if it rejects.
   *
   * @param keys distinct, and sorted, so that locks which are taken in this order never wait for
   *   each other; each at most 400 characters of printable ASCII
   * @param decide synchronous; may be called again if the transaction has to be. Its `states` come
   *   in the order of the keys, undefined where there are none; `now` is ms since the epoch, an
   *   integer, on one clock for all processes: the backend's
   */
  transact<T>(
    keys: readonly string[],
    decide: (states: readonly (Uint8Array | undefined)[], now: number) => Transaction<T>,
  ): Promise<T>
  /** Its clock where that was injected, for tests. */
  readonly clock?: (() => number) | undefined
  /** Ends what the backend itself has started. */
  close?(): void
}
