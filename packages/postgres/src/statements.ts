import { createHash } from 'node:crypto'
import { expiryOf, type KeyRange, type StateChange } from '@sluice/core/store'

/** A time as integer ms since the epoch. */
const msOf = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)::bigint`
/** The time as ms since the epoch, with its fraction. */
const CLOCK = 'extract(epoch FROM clock_timestamp()) * 1000'
/** What is read of a key. Unlike now(), the clock goes on while a transaction waits for its locks. */
const COLUMNS = `key, encode(state, 'hex'), ${msOf('clock_timestamp()')}::text`
/** Where a row is in the table, which stays so while it is locked. */
const PLACE = 'ctid::text'
/** Losing the last moments in a crash is fine for a rate limit, waiting for the disk is not. */
const ASYNCHRONOUS = { synchronous_commit: 'off' }
/** The rows of a few keys are found one by one, whatever the planner estimates. */
const ONE_BY_ONE = { enable_seqscan: 'off' }

/**
 * Sets for the transaction alone how long a statement may take, waiting for a lock included, whatever the
 * user's own settings are.
 *
 * @param ms integer
 */
function settings(ms: number, more: { readonly [name: string]: number | string } = {}): string {
  const entries = Object.entries({ statement_timeout: ms, lock_timeout: ms, ...more })
  return `SELECT ${entries.map(([name, value]) => `set_config('${name}', '${value}', true)`).join()}`
}

/** A statement with parameters. */
export interface ParameterStatement {
  readonly text: string
  /**
   * The name under which a connection keeps it, parsed and planned. Processes with another version or schema
   * may share the connection, behind PgBouncer: the name is that of the text.
   */
  readonly name?: string
}

/** The SQL of a store. What is not a {@link ParameterStatement} is text without parameters: see {@link literal}. */
export class Statements {
  /** Reads one key: its state, in hex, and the time. Its plan depends on the table's size, so it is not kept. */
  readonly readOne: ParameterStatement
  /**
   * Writes a state if the key has that of the condition. It returns the time; or null, and leaves a row
   * without a state, if there is none although the condition has one. It finds the row by the primary key,
   * whatever the planner estimates. The time is tested again after it has waited for the row.
   */
  readonly writeOne: ParameterStatement
  /** Deletes a key in the same way. */
  readonly removeOne: ParameterStatement

  /** Create the table. Repeating them does nothing. */
  readonly create: readonly string[]
  private readonly table: string
  private readonly index: string
  private readonly lockId: string

  /** @param logged whether the table is to survive a crash of the server */
  constructor(schema: string, logged: boolean) {
    this.table = `"${schema.replaceAll('"', '""')}".sluice_states`
    this.index = `${this.table}_expires`
    this.lockId = `hashtextextended(${literal(this.table)}, 0)`
    const settings = `set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', $1, true) IS NOT NULL`
    const isInTime = `${CLOCK} BETWEEN $2::numeric AND $3::numeric`
    this.readOne = {
      text: `SELECT (SELECT encode(state, 'hex') FROM ${this.table} WHERE key = $1), (${CLOCK})::text`,
    }
    this.writeOne = named(
      `INSERT INTO ${this.table} AS t (key, state, expires) SELECT $4::text, CASE WHEN $5::bytea IS NULL THEN $6::bytea END, $7::bigint WHERE ${settings} AND ${isInTime} ON CONFLICT (key) DO UPDATE SET state = $6, expires = $7 WHERE t.state IS NOT DISTINCT FROM $5 AND ${isInTime} RETURNING CASE WHEN state IS NOT NULL THEN ${CLOCK} END::text`,
    )
    this.removeOne = {
      text: `DELETE FROM ${this.table} WHERE key = $4::text AND state IS NOT DISTINCT FROM $5::bytea AND ${settings} AND ${isInTime} RETURNING (${CLOCK})::text`,
    }
    this.create = [
      `CREATE ${logged ? '' : 'UNLOGGED '}TABLE IF NOT EXISTS ${this.table} (key text COLLATE "C" PRIMARY KEY, state bytea, expires bigint NOT NULL) WITH (fillfactor = 70)`,
      `CREATE INDEX IF NOT EXISTS sluice_states_expires ON ${this.table} (expires)`,
    ]
  }

  /** The last result is whether everything is there: then nobody need be permitted to create it. */
  find(ms: number): string[] {
    const found = [this.table, this.index].map(
      (name) => `to_regclass(${literal(name)}) IS NOT NULL`,
    )
    return [settings(ms), `SELECT (${found.join(' AND ')})::text`]
  }

  /** Creates the table and its index. If several processes do so, one at a time. */
  migrate(): string[] {
    return ['BEGIN', `SELECT pg_advisory_xact_lock(${this.lockId})`, ...this.create, 'COMMIT']
  }

  /**
   * Begins a transaction and locks the rows of the keys; the last result is their states, in hex, each
   * with the time, read when all locks are held, and the place of its row.
   *
   * A key that has no row gets one, in the same statement, so that the locks are taken in the order of
   * the keys whether they are there or not. A row that is there is only locked: WHERE false.
   *
   * @param keys sorted
   * @param ms how long each statement may take, and a pause between the round trips, if this process stops
   */
  lock(keys: readonly string[], ms: number): string[] {
    const literals = keys.map(literal)
    return [
      'BEGIN ISOLATION LEVEL READ COMMITTED',
      settings(ms, { idle_in_transaction_session_timeout: ms, ...ASYNCHRONOUS, ...ONE_BY_ONE }),
      `INSERT INTO ${this.table} AS t (key, expires) VALUES ${literals.map((key) => `(${key}, 0)`).join()} ON CONFLICT (key) DO UPDATE SET expires = t.expires WHERE false`,
      `SELECT ${COLUMNS}, ${PLACE} FROM ${this.table} WHERE key IN (${literals.join()})`,
    ]
  }

  /**
   * Reads keys in their order, in the form of `lock`; the last result has them, the one before it the time.
   *
   * @param now ms; undefined: the server's
   */
  list({ after, before, count }: KeyRange, now: number | undefined, ms: number): string[] {
    return [
      settings(ms),
      `SELECT ${msOf('clock_timestamp()')}::text`,
      `SELECT ${COLUMNS} FROM ${this.table} WHERE key > ${literal(after)} AND key < ${literal(before)} AND expires > ${now ?? msOf('statement_timestamp()')} ORDER BY key LIMIT ${count}`,
    ]
  }

  /**
   * Writes the changes and commits. It finds the rows by their places: by their keys it would pass all of their
   * old versions that a snapshot may still see.
   *
   * @param unused keys whose row was made by the lock
   * @param places the places of all rows that were locked, by their keys
   */
  write(
    changes: readonly StateChange[],
    unused: readonly string[],
    places: ReadonlyMap<string, string>,
    now: number,
  ): string[] {
    if (changes.length === 0) return ['ROLLBACK']
    const placeOf = (key: string) => `'${places.get(key)}'::tid`
    const rows = changes.flatMap(({ key, state, ttlMs }) => {
      if (state === undefined) return []
      const hex = Buffer.from(state).toString('hex')
      return `(${placeOf(key)}, decode('${hex}', 'hex'), ${expiryOf(now, ttlMs)}::bigint)`
    })
    const deleted = changes.filter(({ state }) => state === undefined).map(({ key }) => key)
    const gone = [...deleted, ...unused].map(placeOf)
    const put = `UPDATE ${this.table} AS t SET state = v.state, expires = v.expires FROM (VALUES ${rows.join()}) AS v (place, state, expires) WHERE t.ctid = v.place`
    const remove = `DELETE FROM ${this.table} WHERE ctid = ANY (ARRAY[${gone.join()}])`
    const writes = [...(rows.length > 0 ? [put] : []), ...(gone.length > 0 ? [remove] : [])]
    return [...writes, 'COMMIT']
  }

  /**
   * Deletes some expired rows, unless another process does it or a transaction has them; the last
   * result counts them. It never waits for a lock.
   *
   * @param now ms; undefined: the server's
   */
  sweep(count: number, now: number | undefined, ms: number): string[] {
    // Stable during the statement, so that it can use the index.
    const until = now ?? msOf('statement_timestamp()')
    const expired = `SELECT key FROM ${this.table} WHERE (SELECT mine FROM lock) AND expires <= ${until} ORDER BY expires LIMIT ${count} FOR UPDATE SKIP LOCKED`
    return [
      settings(ms, ASYNCHRONOUS),
      `WITH lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${this.lockId}) AS mine) DELETE FROM ${this.table} WHERE key = ANY(ARRAY(${expired}))`,
    ]
  }
}

function named(text: string): ParameterStatement {
  return { name: `sluice_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`, text }
}

/**
 * Text of printable ASCII as a literal, right under every setting of the server. There are no
 * parameters, because several statements with parameters would be several round trips.
 */
function literal(text: string): string {
  return `E'${text.replace(/['\\]/g, '$&$&')}'`
}
