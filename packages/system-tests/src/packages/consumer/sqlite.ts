// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import { createLimiter } from '@sluice/core'
import { type SqliteStoreOptions, sqliteStore } from '@sluice/sqlite'

declare class Database {
  constructor(path: string, options?: { readonly: boolean })
  exec(sql: string): this
  prepare(sql: string): { run(): void }
  close(): this
}

const options: SqliteStoreOptions = { durable: true, driver: Database, maxBytes: 10_000_000 }
const store = sqliteStore('limits.db', options)

export const limiter = createLimiter({ store, limit: 2, window: '1m' })
export const remaining: Promise<number> = limiter.consume('client').then((each) => each.remaining)

// @ts-expect-error A class, not its name.
sqliteStore('limits.db', { driver: 'better-sqlite3' })
// @ts-expect-error The types are not any.
store.inspect(1)
