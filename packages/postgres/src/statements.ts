import type { Change } from '@sluice/core/store'

/** `expires` is rounded up to so many ms: its index changes, and so costs, only once in that time. */
const EXPIRY_GRID_MS = 60_000
/** The most rows that a sweep deletes in one transaction. */
export const SWEPT_AT_ONCE = 1000

/** As integer ms since the epoch. */
const msOf = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)::bigint`

/** The SQL of a store. All of it is text, without parameters: see {@link literal}. */
export class Statements {
  /** Create the table. Repeating them does nothing. */
  readonly create: readonly string[]
  private readonly table: string
  private readonly lockId: string

  /** @param logged whether the table is to survive a crash of the server */
  constructor(schema: string, logged: boolean) {
    this.table = `"${schema.replaceAll('"', '""')}".sluice_states`
    this.lockId = `hashtextextended(${literal(this.table)}, 0)`
    this.create = [
      `CREATE ${logged ? '' : 'UNLOGGED '}TABLE IF NOT EXISTS ${this.table} (key text COLLATE "C" PRIMARY KEY, state bytea, expires bigint NOT NULL) WITH (fillfactor = 70)`,
      `CREATE INDEX IF NOT EXISTS sluice_states_expires ON ${this.table} (expires)`,
    ]
  }

  /** Of several processes, one creates at a time. */
  migrate(): string[] {
    return ['BEGIN', `SELECT pg_advisory_xact_lock(${this.lockId})`, ...this.create, 'COMMIT']
  }

  /**
   * Begins a transaction and locks the rows of the keys; the last two results are their states, in
   * hex, and the time, read when all locks are held.
   *
   * A key that has no row gets one, in the same statement, so that the locks are taken in the order of
   * the keys whether they are there or not. A row that is there is only locked: WHERE false.
   *
   * @param keys sorted
   * @param ms for each statement, for each lock, and between the round trips, if this process stops
   */
  lock(keys: readonly string[], ms: number): string[] {
    const limit = Math.max(1, Math.ceil(ms))
    const literals = keys.map(literal)
    return [
      'BEGIN ISOLATION LEVEL READ COMMITTED',
      `SET LOCAL statement_timeout = ${limit}`,
      `SET LOCAL lock_timeout = ${limit}`,
      `SET LOCAL idle_in_transaction_session_timeout = ${limit}`,
      // Losing the last moments in a crash is fine for a rate limit, waiting for the disk is not.
      'SET LOCAL synchronous_commit = off',
      `INSERT INTO ${this.table} AS t (key, expires) VALUES ${literals.map((key) => `(${key}, 0)`).join()} ON CONFLICT (key) DO UPDATE SET expires = t.expires WHERE false`,
      `SELECT key, encode(state, 'hex') FROM ${this.table} WHERE key IN (${literals.join()})`,
      // Unlike now(), this goes on during a transaction, while it waits for its locks.
      `SELECT ${msOf('clock_timestamp()')}::text`,
    ]
  }

  /**
   * Writes the changes and commits.
   *
   * @param unused keys whose row was made by the lock
   */
  write(changes: readonly Change[], unused: readonly string[], now: number): string[] {
    if (changes.length === 0) return ['ROLLBACK']
    const rows = changes.flatMap(({ key, state, ttlMs }) => {
      if (state === undefined) return []
      const expires = Math.ceil((now + ttlMs) / EXPIRY_GRID_MS) * EXPIRY_GRID_MS
      return `(${literal(key)}, decode('${Buffer.from(state).toString('hex')}', 'hex'), ${expires})`
    })
    const deleted = changes.filter(({ state }) => state === undefined).map(({ key }) => key)
    const gone = [...deleted, ...unused].map(literal)
    const put = `INSERT INTO ${this.table} (key, state, expires) VALUES ${rows.join()} ON CONFLICT (key) DO UPDATE SET state = EXCLUDED.state, expires = EXCLUDED.expires`
    const remove = `DELETE FROM ${this.table} WHERE key IN (${gone.join()})`
    const writes = [...(rows.length > 0 ? [put] : []), ...(gone.length > 0 ? [remove] : [])]
    return [...writes, 'COMMIT']
  }

  /**
   * Deletes some expired rows, unless another process does it or a transaction has them; the last
   * result but one counts them. It never waits for a lock.
   *
   * @param now ms; undefined: the server's
   */
  sweep(now: number | undefined, ms: number): string[] {
    // Stable during the statement, so that it can use the index.
    const until = now ?? msOf('statement_timestamp()')
    const expired = `SELECT key FROM ${this.table} WHERE (SELECT mine FROM lock) AND expires <= ${until} ORDER BY expires LIMIT ${SWEPT_AT_ONCE} FOR UPDATE SKIP LOCKED`
    return [
      'BEGIN',
      `SET LOCAL statement_timeout = ${ms}`,
      'SET LOCAL synchronous_commit = off',
      `WITH lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${this.lockId}) AS mine) DELETE FROM ${this.table} WHERE key = ANY(ARRAY(${expired}))`,
      'COMMIT',
    ]
  }
}

/**
 * Text of printable ASCII as a literal, right under every setting of the server. There are no
 * parameters, because several statements with parameters would be several round trips, or
 * prepared statements, which PgBouncer does not keep.
 */
function literal(text: string): string {
  return `E'${text.replace(/['\\]/g, '$&$&')}'`
}
