import { setupError } from '@sluice/transactional'
import { MYSQL_ACTIONS } from './setup-actions.ts'
import { CREATE } from './statements.ts'

/** What must be there, by the code of its absence, and the server's errors that say so. */
const NEEDS: readonly [code: keyof typeof MYSQL_ACTIONS, expected: string, errors: number[]][] = [
  // ER_NO_DB_ERROR, ER_BAD_FIELD_ERROR, ER_NO_SUCH_TABLE, ER_KEY_DOES_NOT_EXITS
  ['SLUICE_MYSQL_TABLE', 'the table of the store', [1046, 1054, 1146, 1176]],
  // ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_COLUMNACCESS_DENIED_ERROR
  ['SLUICE_MYSQL_FORBIDDEN', 'a user who may use the table', [1044, 1142, 1143]],
  // ER_ACCESS_DENIED_ERROR, ER_BAD_DB_ERROR, ER_ACCESS_DENIED_NO_PASSWORD_ERROR
  ['SLUICE_MYSQL_AUTH', 'the credentials of the server', [1045, 1049, 1698]],
  // ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE
  ['SLUICE_MYSQL_READONLY', 'a server that accepts writes', [1290, 1792, 1836]],
]

/** ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK, and ER_CHECKREAD of MariaDB: a row is newer than the snapshot. */
const CONFLICTS = [1205, 1213, 1020]
const NO_SUCH_TABLE = 1146

/** Whether others were in the way: the transaction has done nothing. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes(numberOf(error))
}

export function isMissingTable(error: unknown): boolean {
  return numberOf(error) === NO_SUCH_TABLE
}

/** @throws the failure in words, where it is a mistake in how the server is set up; else as it is */
export function throwSetupError(error: unknown): never {
  const need = NEEDS.find(([, , errors]) => errors.includes(numberOf(error)))
  if (need === undefined) throw error
  const [code, expected] = need
  const { message } = error as Error
  if (message.startsWith('CREATE ')) {
    const fix = `Let a user who may create tables call migrate(), or run: ${CREATE};`
    throw setupError(MYSQL_ACTIONS, code, 'a user who may create the table', message, fix)
  }
  const isMissing = code === 'SLUICE_MYSQL_TABLE'
  const fix = `Call await store.migrate() when you deploy, or run: ${CREATE};`
  throw setupError(MYSQL_ACTIONS, code, expected, message, isMissing ? fix : undefined)
}

/** @param version as the server tells it, `8.0.36` or `5.5.5-10.6.18-MariaDB` @throws SluiceError if it is too old */
export function checkVersion(version: string): void {
  const [, major, minor] = /^(?:5\.5\.5-)?(\d+)\.(\d+)/.exec(version) ?? []
  const [least, leastMinor] = version.includes('MariaDB') ? [10, 6] : [8, 0]
  if (Number(major) > least || (Number(major) === least && Number(minor) >= leastMinor)) return
  const expected = 'MySQL 8.0 or MariaDB 10.6, or later'
  throw setupError(MYSQL_ACTIONS, 'SLUICE_MYSQL_VERSION', expected, version)
}

function numberOf(error: unknown): number {
  return Number((Object(error) as { errno?: unknown }).errno)
}
