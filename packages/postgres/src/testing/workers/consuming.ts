import { createLimiter } from '@sluice/core'
import { defineWorker } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { Pool } from 'pg'
import { postgresStore } from '../../index.ts'

export interface Work {
  readonly url: string
  /** Requests of this process for each key, all at once. */
  readonly times: number
  /** The keys in the order in which this process asks for them. */
  readonly keys: readonly string[]
}

/** Gives how many requests of each key were admitted here. */
defineWorker(async ({ url, times, keys }: Work) => {
  const pool = new Pool({ connectionString: url })
  const limiter = createLimiter({
    ...patient,
    store: postgresStore(pool),
    limit: 100,
    window: '1d',
    algorithm: 'sliding-log',
  })
  await limiter.peek('ready')
  return async () => {
    const counts = Object.fromEntries(keys.map((key) => [key, 0]))
    const ask = async (key: string) => {
      const { allowed, source } = await limiter.consume(key)
      if (source !== 'store') throw new Error(`decided by ${source}`)
      if (allowed) counts[key] = (counts[key] ?? 0) + 1
    }
    // Half of the requests at once, the others one after the other: in several transactions.
    const half = times / 2
    const burst = Array.from({ length: half }, () => keys.map(ask)).flat()
    for (let i = 0; i < half; i += 1) await Promise.all(keys.map(ask))
    await Promise.all(burst)
    await pool.end()
    return counts
  }
})
