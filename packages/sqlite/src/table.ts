import { setupError } from '@sluice/transactional'
import type { Database, Statement } from './driver.ts'
import { SQLITE_ACTIONS } from './setup-actions.ts'
import { notShared } from './setup-error.ts'

/** Marks files of this store: `slu`, and the version of the table. */
const APPLICATION_ID = 0x736c7501
const PAGE_BYTES = 4096

const CREATE = `CREATE TABLE sluice_states (key TEXT PRIMARY KEY, state BLOB NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA application_id = ${APPLICATION_ID}`
const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  get: 'SELECT state FROM sluice_states WHERE key = ?',
  // Apart: an expiry may be above 2^53, which node:sqlite does not read.
  expiryOf: 'SELECT expires FROM sluice_states WHERE key = ?',
  put: 'INSERT INTO sluice_states VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET state = excluded.state, expires = excluded.expires',
  remove: 'DELETE FROM sluice_states WHERE key = ?',
  list: 'SELECT key, state FROM sluice_states WHERE key > ? AND key < ? AND expires > ? ORDER BY key LIMIT ?',
  nth: 'SELECT key FROM sluice_states WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?',
  sweep: 'DELETE FROM sluice_states WHERE key > ? AND key <= ? AND expires <= ?',
}

/** The prepared statements on the table. */
export type Statements = Record<keyof typeof SQL, Statement> & Pick<Database, 'exec'>

/** Whether a commit waits for the disk, and how large the file may become. */
export type FileSettings = { readonly durable: boolean; readonly maxBytes: number }

/**
 * Sets a connection up, and creates the table if the file is new.
 *
 * @throws SluiceError if the file is not of this store, or can't be shared
 */
export function statementsOn(database: Database, path: string, settings: FileSettings) {
  const pragma = (name: string) =>
    Object.values(database.prepare(`PRAGMA ${name}`).get() as object)[0]
  const isMade = () => {
    const isEmpty = database.prepare('SELECT name FROM sqlite_schema').get() === undefined
    const id = pragma('application_id')
    if (id === APPLICATION_ID) return true
    if (id === 0 && isEmpty) return false
    const found = `${path}: a file with the application_id ${id}`
    throw setupError(
      SQLITE_ACTIONS,
      'SLUICE_SQLITE_VERSION',
      `the application_id ${APPLICATION_ID}`,
      found,
    )
  }
  database.exec('PRAGMA busy_timeout = 0')
  if (!isMade()) {
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL`)
    const mode = pragma('journal_mode = WAL')
    if (mode !== 'wal') throw notShared(path, `the journal mode ${mode}`)
    database.exec('BEGIN IMMEDIATE')
    // Another process may have been first.
    if (!isMade()) database.exec(CREATE)
    database.exec('COMMIT')
  }
  const synchronous = settings.durable ? 'FULL' : 'OFF'
  database.exec(
    `PRAGMA synchronous = ${synchronous}; PRAGMA max_page_count = ${Math.ceil(settings.maxBytes / PAGE_BYTES)}`,
  )
  const entries = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)])
  const exec = (sql: string) => database.exec(sql)
  return { ...Object.fromEntries(entries), exec } as Statements
}
