import { setupError } from '@sluice/transactional'
import { SQLITE_ACTIONS } from './setup-actions.ts'

/** A prepared statement. */
export type Statement = Record<'run' | 'get' | 'all', (...values: unknown[]) => unknown>

/** An open file: a `DatabaseSync` of `node:sqlite`, or a `Database` of better-sqlite3. */
export interface Database {
  exec(sql: string): unknown
  prepare(sql: string): Statement
  close(): unknown
}

/** A class whose instances are open files. */
export type Driver = new (path: string) => Database

/** The class that Node itself has. @throws SluiceError if it has none */
export function ownDriver(): Driver {
  // Not an import: a bundler or an older Node would fail on it, even if another driver is given.
  const sqlite = process.getBuiltinModule('node:sqlite') as { DatabaseSync: Driver } | undefined
  if (sqlite !== undefined) return sqlite.DatabaseSync
  throw setupError(SQLITE_ACTIONS, 'SLUICE_SQLITE_MISSING', 'Node 22.13 or later', process.version)
}
