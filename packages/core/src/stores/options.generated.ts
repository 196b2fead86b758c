// Generated from options/table.ts by "npm run generate". Do not edit.
/** The options of a memory store. */
export interface MemoryStoreOptions {
  /**
   * The most keys that are kept, over all limiters that use the store. A key with three policies
   * counts three times. When the store is full, expired keys are removed first, then those nearest
   * to a full quota. A key that is being refused is never removed: if all keys are, new keys share
   * one quota. A million keys need about 60 MB, and the keys themselves. Integer, 1 … 10^8 keys.
   * Default: `1_000_000`.
   */
  maxKeys?: number | undefined
  /**
   * A clock for tests. Default: the wall clock; a turn of the event loop that asks often stops
   * reading it.
   */
  clock?: (() => number) | undefined
}

/** The options of a store in Redis. */
export interface RedisStoreOptions {
  /** A clock for tests. Default: the server's `TIME`, read by the script. */
  clock?: (() => number) | undefined
  /**
   * Called, at most once in 1,000 ms, when the server says that it is a read-only replica: after a
   * failover the client may still be connected to the old master. Sluice never touches the
   * connection of the client, so make the client reconnect here. May be async; what it throws
   * becomes a warning. Default: none.
   */
  onReadOnly?: (() => unknown) | undefined
}

/** The options of a store in PostgreSQL. */
export interface PostgresStoreOptions {
  /** The schema of the table `sluice_states`. Text, 1 to 63 characters. Default: `'public'`. */
  schema?: string | undefined
  /**
   * Whether the table that `migrate()` creates survives a crash of the server. An UNLOGGED table is
   * empty after a crash and after a failover: all quotas are whole again, and blocks are gone. It
   * writes much less. Default: `false`.
   */
  logged?: boolean | undefined
  /** A clock for tests. Default: the server's `clock_timestamp()`. */
  clock?: (() => number) | undefined
}
