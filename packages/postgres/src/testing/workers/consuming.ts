import { type AlgorithmName, createLimiter } from '@sluice/core'
import { defineWorker } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { Pool } from 'pg'
import postgres from 'postgres'
import { postgresStore } from '../../index.ts'

export interface Work {
  readonly url: string
  /** Requests of this process for each key, all at once. */
  readonly times: number
  /** The keys in the order in which this process asks for them. */
  readonly keys: readonly string[]
  /** The limits of the processes, per window in ms; each key is that of the algorithm whose name it is. */
  /** Default: pg. */
  readonly client?: 'pg' | 'postgres'
  /** Default: 100. */
  readonly limit?: number
  readonly prefix?: string
  /** The process of this number kills itself in the middle. */
  readonly killed?: number
  readonly versions?: { readonly limits: readonly number[]; readonly window: number }
}

/** Gives how many requests of each key were admitted here. */
defineWorker(async ({ url, times, keys, versions, killed, ...work }: Work, number) => {
  const pool = work.client === 'postgres' ? postgres(url) : new Pool({ connectionString: url })
  const store = postgresStore(pool)
  const limiterOf = (algorithm: AlgorithmName) =>
    createLimiter({
      ...patient,
      store,
      prefix: work.prefix ?? 'sluice',
      limit: versions?.limits[number] ?? work.limit ?? 100,
      window: versions?.window ?? '1d',
      algorithm,
      ...(algorithm === 'leaky-bucket' && versions
        ? { maxDelay: Math.ceil(0.99 * versions.window) }
        : {}),
    })
  const log = limiterOf('sliding-log')
  const limiters = Object.fromEntries(
    keys.map((key) => [key, versions === undefined ? log : limiterOf(key as AlgorithmName)]),
  )
  await log.peek('ready')
  return async () => {
    const counts = Object.fromEntries(keys.map((key) => [key, 0]))
    const ask = async (key: string) => {
      const { allowed, source } = await limiters[key]!.consume(key)
      if (source !== 'store') throw new Error(`decided by ${source}`)
      if (allowed) counts[key] = (counts[key] ?? 0) + 1
    }
    // Half of the requests at once, the others one after the other: in several transactions.
    const half = times / 2
    const burst = Array.from({ length: half }, () => keys.map(ask)).flat()
    for (let i = 0; i < half; i += 1) {
      if (number === killed && i > half / 2) process.kill(process.pid, 'SIGKILL')
      await Promise.all(keys.map(ask))
    }
    await Promise.all(burst)
    await pool.end()
    return counts
  }
})
