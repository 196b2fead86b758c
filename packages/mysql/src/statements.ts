import { expiryOf, type KeyRange, type StateChange } from '@sluice/transactional'

// Texts without parameters or backslashes, with all keys and states in hex: they mean the same under every sql_mode,
// character set and setting of the pool.

/** When the statement began, ms since the epoch, whatever the time zone. */
const NOW = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000"
/** How long ago the statement began when a row is looked at, µs. */
const WAITED = 'TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))'
/** Rows are found one by one, whatever the optimizer estimates: a scan would lock all of them. */
const TABLE = 'sluice_states FORCE INDEX (PRIMARY)'
/** The most characters of the rows of a statement, far below the server's max_allowed_packet. */
const MAX_CHARACTERS = 250_000

export const CREATE =
  'CREATE TABLE IF NOT EXISTS sluice_states (id VARBINARY(450) NOT NULL PRIMARY KEY, state LONGBLOB, expires BIGINT NOT NULL, KEY sluice_states_expires (expires)) ENGINE = InnoDB'

/** The table by the time at which its rows expire. */
const BY_EXPIRY = 'sluice_states FORCE INDEX (sluice_states_expires)'

/** Fails if the table, a column or an index is missing. */
export const FIND = `SELECT id, state, expires FROM ${BY_EXPIRY} LIMIT 0`

/** The user's own settings, which `RESTORE` brings back. */
const KEPT = '@sluice_lock_wait = @@innodb_lock_wait_timeout, @sluice_wait = @@wait_timeout'

/** Sets how long a lock is waited for, and a transaction for this process, s: it may stop in the middle of one. */
export function patience(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  return `SET ${KEPT}, innodb_lock_wait_timeout = ${seconds}, wait_timeout = ${2 * seconds}`
}

export const RESTORE =
  'SET innodb_lock_wait_timeout = @sluice_lock_wait, wait_timeout = @sluice_wait'

/**
 * Locks the keys in their order, whether they are there or not: a key that has no row gets one without a state. It
 * waits, and neither reads a snapshot nor begins one, so that what is read next is as new as the locks.
 */
export function lock(keys: readonly string[]): string {
  const rows = keys.map((key) => `(${hexOf(key)}, 0)`)
  return `INSERT INTO sluice_states (id, expires) VALUES ${rows.join()} ON DUPLICATE KEY UPDATE expires = sluice_states.expires`
}

/** Reads keys that are locked: each with its state and the time. */
export function locked(keys: readonly string[]): string {
  return `SELECT id, state, ${NOW} FROM ${TABLE} WHERE id IN (${keys.map(hexOf).join()}) FOR UPDATE`
}

/** Write changes, and commit. A row without a state is deleted by the next sweep: to delete it here may scan the table. */
export function writes(changes: readonly StateChange[], now: number): string[] {
  const rows = changes.map((change) => `(${hexOf(change.key)}, ${written(change, now).join()})`)
  const texts = inParts(rows).map(
    (part) =>
      `INSERT INTO sluice_states (id, state, expires) VALUES ${part} ON DUPLICATE KEY UPDATE state = VALUES(state), expires = VALUES(expires)`,
  )
  return [...texts, 'COMMIT']
}

/**
 * Reads the time, whether each statement is a transaction, and the state of a key, without a lock. The column has a
 * name, since mysql2 compiles a parser for each set of names.
 */
export function look(key: string): string {
  return `SELECT ${NOW}, @@autocommit, (SELECT state FROM sluice_states WHERE id = ${hexOf(key)}) AS state`
}

/** Changes a key if it still has that state, and has not waited longer for its lock. */
export function swap(change: StateChange, found: Uint8Array, now: number, ms: number): string {
  const [state, expires] = written(change, now)
  return `UPDATE ${TABLE} SET state = ${state}, expires = ${expires} WHERE id = ${hexOf(change.key)} AND state = ${hexOf(found)} AND ${WAITED} <= ${1000 * ms}`
}

/** Reads keys in their order. @param now ms */
export function list({ after, before, count }: KeyRange, now: number): string {
  return `SELECT id, state FROM ${TABLE} WHERE id > ${hexOf(after)} AND id < ${hexOf(before)} AND expires > ${now} ORDER BY id LIMIT ${count}`
}

export const TIME = `SELECT ${NOW}`

/** Finds some expired rows, without a lock. */
export function expired(count: number, now: number | undefined): string {
  return `SELECT id FROM ${BY_EXPIRY} WHERE expires <= ${now ?? NOW} ORDER BY expires LIMIT ${count}`
}

/**
 * Deletes these rows, unless they are used again. Each is found by its key: a list of them may be a scan. MariaDB does
 * not see that under `sql_safe_updates`, which is off for this statement; MySQL reads its part as a comment.
 */
export function sweep(ids: readonly Uint8Array[], now: number | undefined): string {
  const texts = ids.map((id) => `"${Buffer.from(id).toString('hex')}"`)
  return `/*M! SET STATEMENT sql_safe_updates = 0 FOR */ DELETE t FROM JSON_TABLE('[${texts.join()}]', '$[*]' COLUMNS (id VARCHAR(900) PATH '$')) AS k STRAIGHT_JOIN sluice_states AS t ON t.id = UNHEX(k.id) WHERE t.expires <= ${now ?? NOW}`
}

/** The state and the expiry of a row; without a state it has expired. */
function written({ state, ttlMs }: StateChange, now: number): readonly [string, number] {
  return state === undefined ? ['NULL', 0] : [hexOf(state), expiryOf(now, ttlMs)]
}

/** Joins texts by commas, so many at a time that a statement is not too long. */
function inParts(texts: readonly string[]): string[] {
  const parts: string[] = []
  for (const text of texts) {
    const last = parts.at(-1)
    if (last === undefined || last.length + text.length > MAX_CHARACTERS) parts.push(text)
    else parts[parts.length - 1] = `${last},${text}`
  }
  return parts
}

/** Bytes or ASCII as a literal of bytes. */
function hexOf(bytes: string | Uint8Array): string {
  return `x'${Buffer.from(bytes as string).toString('hex')}'`
}
