import { setupError } from '@sluice/transactional'
import { SQLITE_ACTIONS } from './setup-actions.ts'

/** The results of SQLite by their numbers, as `node:sqlite` has them; better-sqlite3 has the names. */
const RESULTS =
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'.split(
    ' ',
  )

/** What must be there, by the code of its absence, and the results that say so. */
const NEEDS: readonly [code: keyof typeof SQLITE_ACTIONS, expected: string, results: RegExp][] = [
  ['SLUICE_SQLITE_FILE', 'a file that this process may write', /^(PERM|READONLY|IOERR|CANTOPEN)$/],
  ['SLUICE_SQLITE_FULL', 'room for the file', /^FULL$/],
  ['SLUICE_SQLITE_CORRUPT', 'a file of SQLite that is whole', /^(CORRUPT|NOTADB)$/],
]

/** The primary result code of SQLite in an error: `BUSY`. */
function resultOf(error: unknown): string {
  const { code, errcode } = Object(error) as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return RESULTS[errcode & 0xff] ?? ''
  // Of Node itself, of a folder that is not there.
  if (/^E(NOENT|NOTDIR|ACCES|PERM)$/.test(String(code))) return 'CANTOPEN'
  return /^SQLITE_([A-Z]+)/.exec(String(code))?.[1] ?? ''
}

/** Whether another connection has the lock of the file for the moment. */
export function isBusy(error: unknown): boolean {
  return /^(BUSY|LOCKED|PROTOCOL)$/.test(resultOf(error))
}

/** The failure in words, where it is of the file or its place; else as it is. */
export function explained(error: unknown, path: string): unknown {
  const result = resultOf(error)
  const need = NEEDS.find(([, , results]) => results.test(result))
  if (need === undefined) return error
  const [code, expected] = need
  return setupError(SQLITE_ACTIONS, code, expected, `${path}: ${(error as Error).message}`)
}

/** The error of a file that other machines may use too. */
export function notShared(path: string, found: string): Error {
  return setupError(
    SQLITE_ACTIONS,
    'SLUICE_SQLITE_NETWORK',
    'a disk of this machine',
    `${path}: ${found}`,
  )
}
