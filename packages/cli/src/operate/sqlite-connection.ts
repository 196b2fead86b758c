import { existsSync } from 'node:fs'
import { sqliteStore } from '@sluice/sqlite'
import { UsageError } from '@sluice/terminal/usage-error'
import type { Connection } from './connection.ts'

/** @throws UsageError if there is no such file: the command never makes one */
export function sqliteConnection(path: string): Connection {
  if (!existsSync(path)) throw new UsageError(`--sqlite: there is no file ${path}`)
  const store = sqliteStore(path)
  return { store, health: async () => [], close: () => store.close() }
}
