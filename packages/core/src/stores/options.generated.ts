// Generated from options/table.ts by "npm run generate". Do not edit.
/** The options of a memory store. */
export interface MemoryStoreOptions {
  /**
   * The most keys that the store keeps, over all of its limiters; a key with three policies counts
   * three times. A full store removes expired keys first, then those nearest to a full quota, and
   * never one that is being refused: if all are, new keys share one quota. A million keys need
   * about 60 MB, plus the keys themselves. Integer, 1 … 10^8 keys. Default: `1_000_000`.
   */
  maxKeys?: number | undefined
  /** The clock. Default: the wall clock. */
  clock?: (() => number) | undefined
}

/** The options of a Redis store. */
export interface RedisStoreOptions {
  /** The clock. Default: the server's `TIME`, read by the script. */
  clock?: (() => number) | undefined
  /**
   * Called, at most once per second, when the server is a read-only replica: after a failover, the
   * client may still be connected to the old master. Make it reconnect here. May be async; if it
   * throws, Sluice warns. Default: none.
   */
  onReadOnly?: (() => unknown) | undefined
}

/** The options of a PostgreSQL store. */
export interface PostgresStoreOptions {
  /** The schema of the table `sluice_states`. Text, 1 to 63 characters. Default: `'public'`. */
  schema?: string | undefined
  /**
   * Whether the table that `migrate()` creates survives a server crash. An UNLOGGED table writes
   * much less, but a crash or failover makes all quotas full again and ends blocks. Default:
   * `false`.
   */
  logged?: boolean | undefined
  /** The clock. Default: the server's `clock_timestamp()`. */
  clock?: (() => number) | undefined
}

/** The options of a MySQL or MariaDB store. */
export interface MysqlStoreOptions {
  /** The clock. Default: the server's `UTC_TIMESTAMP(3)`. */
  clock?: (() => number) | undefined
}

/** The options of a DynamoDB store. */
export interface DynamodbStoreOptions {
  /** The table. Text, 3 to 255 letters, digits, `_`, `.` and `-`. Default: `'sluice_states'`. */
  table?: string | undefined
  /** The clock. Default: the process's, corrected by the `Date` of DynamoDB's responses. */
  clock?: (() => number) | undefined
}

/** The options of an SQLite store. */
export interface SqliteStoreOptions {
  /**
   * The driver that opens the file. Processes may use different drivers, the threads of one process
   * must not. A class: `Database` of better-sqlite3. Default: `DatabaseSync` of `node:sqlite`, from
   * Node 22.13 on.
   */
  driver?: new (path: string) => { exec(sql: string): unknown; prepare(sql: string): object; close(): unknown } | undefined
  /**
   * Whether each decision waits until it is on disk. Without it, counts survive the end of a
   * process, but a power failure may corrupt the file: then delete it. Default: `false`.
   */
  durable?: boolean | undefined
  /**
   * The maximum size of the file, plus some MB for its log. A million keys take about 110 MB. When
   * it is full, `onStoreError` decides. Integer, 1,048,576 … 1,099,511,627,776 bytes. Default:
   * `1_073_741_824`.
   */
  maxBytes?: number | undefined
  /** The clock. Default: the machine's, which its processes share. */
  clock?: (() => number) | undefined
}
