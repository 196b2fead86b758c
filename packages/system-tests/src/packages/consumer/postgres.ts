// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import { createLimiter } from '@sluice/core'
import { type PostgresStoreOptions, postgresStore } from '@sluice/postgres'
import { Client, Pool } from 'pg'

const options: PostgresStoreOptions = { schema: 'limits', logged: true }
const store = postgresStore(new Pool(), options)
export const migrated: Promise<void> = store.migrate()

export const limiter = createLimiter({ store, limit: 2, window: '1m' })
export const remaining: Promise<number> = limiter.consume('client').then((each) => each.remaining)

// @ts-expect-error A client has no connections to give.
postgresStore(new Client())
// @ts-expect-error The types are not any.
store.migrate(1).then((each) => each.length)
