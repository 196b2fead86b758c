import { createHash } from 'node:crypto'
import { expiryOf, type KeyRange, type StateChange } from '@sluice/transactional'
import type { PostgresValue } from './pool.ts'

/** A time as integer ms since the epoch. */
const msOf = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)::bigint`
/** The time as ms since the epoch, with its fraction. */
const CLOCK = 'extract(epoch FROM clock_timestamp()) * 1000'
/** The columns that are read of a key. Unlike now(), the clock goes on while a transaction waits for its locks. */
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
  /**
   * Writes a state if the key has that of the condition. It returns the time; or null, and leaves a row
   * without a state, if there is none although the condition has one. It finds the row by the primary key,
   * whatever the planner estimates. The time is tested again after it has waited for the row.
   */
  readonly writeOne: ParameterStatement
  /** Calls the function of the store with what is written to some keys. It returns the time; or null: nothing. */
  readonly writeAll: ParameterStatement

  /** Create the table and the function. Repeating them does nothing. */
  readonly create: readonly string[]
  readonly #table: string
  readonly #index: string
  readonly #write1: string
  readonly #lockId: string

  /** @param logged whether the table is to survive a crash of the server */
  constructor(schema: string, logged: boolean) {
    const own = `"${schema.replaceAll('"', '""')}".`
    this.#table = `${own}sluice_states`
    this.#index = `${this.#table}_expires`
    this.#write1 = `${own}sluice_write`
    this.#lockId = `hashtextextended(${literal(this.#table)}, 0)`
    const settings = `set_config('synchronous_commit', 'off', true) IS NOT NULL AND set_config('lock_timeout', $1, true) IS NOT NULL`
    const isInTime = `clock_timestamp() BETWEEN to_timestamp($2 / 1000e0) AND to_timestamp($3 / 1000e0)`
    this.writeOne = named(
      `INSERT INTO ${this.#table} AS t (key, state, expires) SELECT $4::text, CASE WHEN $5::bytea IS NULL THEN $6::bytea END, $7::bigint WHERE ${settings} AND ${isInTime} ON CONFLICT (key) DO UPDATE SET state = $6, expires = $7 WHERE t.state IS NOT DISTINCT FROM $5 AND ${isInTime} RETURNING CASE WHEN state IS NOT NULL THEN ${CLOCK} END::text`,
    )
    this.writeAll = named(`SELECT ${this.#write1}($1, $2, $3, $4, $5, $6, $7)::text`)
    this.create = [
      `CREATE ${logged ? '' : 'UNLOGGED '}TABLE IF NOT EXISTS ${this.#table} (key text COLLATE "C" PRIMARY KEY, state bytea, expires bigint NOT NULL) WITH (fillfactor = 70, toast_tuple_target = 4080)`,
      // To compress a state of many entries takes longer than to write it.
      `ALTER TABLE ${this.#table} ALTER COLUMN state SET STORAGE EXTERNAL`,
      `CREATE INDEX IF NOT EXISTS sluice_states_expires ON ${this.#table} (expires)`,
      `CREATE OR REPLACE FUNCTION ${this.#write1}(patience text, earliest float8, latest float8, names text[], olds bytea[], states bytea[], ends bigint[]) RETURNS numeric LANGUAGE plpgsql AS $$${functionOn(this.#table)} $$`,
    ]
  }

  /** Reads the time, and the states of so many keys, in hex. Its plan depends on the table's size, so it is not kept. */
  read(count: number): ParameterStatement {
    const states = Array.from(
      { length: count },
      (_, i) => `(SELECT encode(state, 'hex') FROM ${this.#table} WHERE key = $${i + 1})`,
    )
    return { text: `SELECT (${CLOCK})::text, ${states.join()}` }
  }

  /** The last result is whether everything is there: then nobody need be permitted to create it. */
  find(ms: number): string[] {
    const found = [this.#table, this.#index].map((name) => `to_regclass(${literal(name)})`)
    found.push(`to_regproc(${literal(this.#write1)})`)
    return [settings(ms), `SELECT (num_nulls(${found.join()}) = 0)::text`]
  }

  /**
   * Creates the table, its index and the function. If several processes do so, one at a time. Without a notice of what
   * exists: postgres.js prints those.
   */
  migrate(): string[] {
    const quiet = `set_config('client_min_messages', 'warning', true)`
    return [`SELECT pg_advisory_xact_lock(${this.#lockId}), ${quiet}`, ...this.create]
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
      `INSERT INTO ${this.#table} AS t (key, expires) VALUES ${literals.map((key) => `(${key}, 0)`).join()} ON CONFLICT (key) DO UPDATE SET expires = t.expires WHERE false`,
      `SELECT ${COLUMNS}, ${PLACE} FROM ${this.#table} WHERE key IN (${literals.join()})`,
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
      `SELECT ${COLUMNS} FROM ${this.#table} WHERE key > ${literal(after)} AND key < ${literal(before)} AND expires > ${now ?? msOf('statement_timestamp()')} ORDER BY key LIMIT ${count}`,
    ]
  }

  /** Reads any number of keys, in the form of `lock`; the last result is the time, read after them. */
  readAll(keys: readonly string[], ms: number): string[] {
    return [
      settings(ms, ONE_BY_ONE),
      `SELECT ${COLUMNS} FROM ${this.#table} WHERE key IN (${keys.map(literal).join()})`,
      `SELECT (${CLOCK})::text`,
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
      return `(${placeOf(key)}, E'\\\\x${hex}'::bytea, ${expiryOf(now, ttlMs)}::bigint)`
    })
    const deleted = changes.filter(({ state }) => state === undefined).map(({ key }) => key)
    const gone = [...deleted, ...unused].map(placeOf)
    const put = `UPDATE ${this.#table} AS t SET state = v.state, expires = v.expires FROM (VALUES ${rows.join()}) AS v (place, state, expires) WHERE t.ctid = v.place`
    const remove = `DELETE FROM ${this.#table} WHERE ctid = ANY (ARRAY[${gone.join()}])`
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
    const expired = `SELECT key FROM ${this.#table} WHERE (SELECT mine FROM lock) AND expires <= ${until} ORDER BY expires LIMIT ${count} FOR UPDATE SKIP LOCKED`
    return [
      settings(ms, ASYNCHRONOUS),
      `WITH lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${this.#lockId}) AS mine), deleted AS (DELETE FROM ${this.#table} WHERE key = ANY(ARRAY(${expired})) RETURNING 1) SELECT count(*)::text FROM deleted`,
    ]
  }
}

/**
 * The body of the function that writes to several keys, all of it or nothing, without an error in the server's log
 * if others were faster. It takes the locks in the order of the keys, and finds rows by the primary key, however small
 * the table was when it was planned. A key that is not changed (`ends` is null) must have its state, and is not locked:
 * what changes it meanwhile comes later.
 */
function functionOn(table: string): string {
  const is = 'IS NOT DISTINCT FROM olds[i]'
  const body = `
DECLARE
  written numeric;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', patience, true), set_config('enable_seqscan', 'off', true);
  FOR i IN 1 .. cardinality(names) LOOP
    IF ends[i] IS NULL THEN
      PERFORM WHERE (SELECT state FROM ${table} WHERE key = names[i]) ${is};
    ELSIF states[i] IS NULL THEN
      DELETE FROM ${table} WHERE key = names[i] AND state ${is};
    ELSIF olds[i] IS NULL THEN
      INSERT INTO ${table} AS t (key, state, expires) VALUES (names[i], states[i], ends[i]) ON CONFLICT (key) DO UPDATE SET state = states[i], expires = ends[i] WHERE t.state IS NULL;
    ELSE
      UPDATE ${table} SET state = states[i], expires = ends[i] WHERE key = names[i] AND state ${is};
    END IF;
    IF NOT FOUND THEN RAISE SQLSTATE 'SLC01'; END IF;
  END LOOP;
  written := ${CLOCK};
  IF written < earliest OR written > latest THEN RAISE SQLSTATE 'SLC01'; END IF;
  RETURN written;
EXCEPTION WHEN SQLSTATE 'SLC01' THEN
  RETURN NULL;
END`
  // One line, as messages quote it.
  return body.replace(/\s+/g, ' ')
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

/** A statement with literals in the place of its parameters. The server finds their types as it does those of parameters. */
export function inlined(text: string, values: readonly PostgresValue[]): string {
  return text.replace(/\$(\d+)/g, (_, place) => literalOf(values[place - 1] as PostgresValue))
}

function literalOf(value: PostgresValue): string {
  if (value === null) return 'NULL'
  if (!Array.isArray(value)) return literal(`${value}`)
  const quote = (each: string | number) => `"${`${each}`.replace(/["\\]/g, '\\$&')}"`
  return literal(`{${value.map((each) => (each === null ? 'NULL' : quote(each))).join()}}`)
}
