// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import { createLimiter } from '@sluice/core'
import { type MysqlStoreOptions, mysqlStore } from '@sluice/mysql'
import { createPool as createCallbackPool } from 'mysql2'
import { createConnection, createPool } from 'mysql2/promise'

const options: MysqlStoreOptions = { clock: () => 1_800_000_000_000 }
const store = mysqlStore(createPool({}), options)
export const migrated: Promise<void> = store.migrate()

export const limiter = createLimiter({ store, limit: 2, window: '1m' })
export const remaining: Promise<number> = limiter.consume('client').then((each) => each.remaining)

mysqlStore(createCallbackPool({}).promise())
// @ts-expect-error A pool of callbacks gives no promises.
mysqlStore(createCallbackPool({}))
// @ts-expect-error A connection has no others to give.
createConnection({}).then((connection) => mysqlStore(connection))
// @ts-expect-error The types are not any.
store.migrate(1).then((each) => each.length)
