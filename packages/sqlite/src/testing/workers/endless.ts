import { createLimiter } from '@sluice/core'
import { defineWorker } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { sqliteDriver } from '@sluice/test-harness/sqlite'
import { sqliteStore } from '../../index.ts'

/** Asks for ever, until it is killed, and tells after each answer how many units it was admitted. */
defineWorker(async ({ path }: { path: string }) => {
  const store = sqliteStore(path, { driver: sqliteDriver() })
  const limiter = createLimiter({ ...patient, store, limit: 1_000_000_000, window: '1d' })
  await limiter.peek('ready')
  return async () => {
    for (;;) {
      const { allowed } = await limiter.consume('client')
      if (allowed) process.send?.({ type: 'admitted' })
    }
  }
})
