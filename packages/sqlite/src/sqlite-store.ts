import { resolve } from 'node:path'
import { SluiceError } from '@sluice/core'
import {
  type InspectableStore,
  type ListedKey,
  readStoreOptions,
  type SqliteStoreOptions,
  Sweeper,
  transactionalStore,
} from '@sluice/transactional'
import { type Driver, ownDriver } from './driver.ts'
import { sqliteFile } from './sqlite-file.ts'
import { sweepOf } from './sweep.ts'
import { transactionsOn } from './transactions.ts'

/**
 * Keeps states in a file of SQLite, shared by all processes and threads of a machine. The file is opened with
 * the first request, and made if it does not exist; its folder must.
 *
 * @param path where the file is: on a disk of this machine, and used by nothing else
 * @throws SluiceError if the path is none, an option is wrong, or Node has no `node:sqlite` and no `driver`
 *   is given
 */
export function sqliteStore(
  path: string,
  options: SqliteStoreOptions = {},
): InspectableStore<'async'> {
  const { driver = ownDriver(), clock, ...settings } = readStoreOptions('sqliteStore', options)
  const file = sqliteFile(resolve(checkPath(path)), driver as Driver, settings)
  const now = clock ?? (() => Date.now())
  const transact = transactionsOn(file, now)
  const sweep = sweepOf(file)
  const sweeper = new Sweeper(async (count) => (sweep(count, now()) ? count : 0))
  return transactionalStore({
    transact(...asked) {
      sweeper.wake()
      return transact(...asked)
    },
    async list({ after, before, count }) {
      const at = now()
      try {
        const keys = file.statements().list.all(after, before, at, count)
        return { keys: keys as ListedKey[], now: at }
      } catch (error) {
        throw file.failed(error)
      }
    },
    clock,
    close() {
      sweeper.close()
      file.close()
    },
  })
}

function checkPath(path: unknown): string {
  if (typeof path === 'string' && !/^(:memory:|file:.*|)$/.test(path)) return path
  throw new SluiceError({
    code: 'SLUICE_STORE_UNKNOWN',
    option: 'path',
    expected: 'the path of a file',
    received: path,
    fix: "Give it a path such as '/var/lib/app/limits.db'; memoryStore() counts in memory.",
  })
}
