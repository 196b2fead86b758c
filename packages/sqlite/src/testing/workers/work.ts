import { createLimiter } from '@sluice/core'
import { patient } from '@sluice/test-harness/redis'
import { sqliteDriver } from '@sluice/test-harness/sqlite'
import { sqliteStore } from '../../index.ts'

export interface Work {
  readonly path: string
  /** Requests for each key. */
  readonly times: number
  readonly keys: readonly string[]
}

/**
 * Opens the file, then waits for the word.
 *
 * @returns what asks for every key, half of the times at once, and gives how often each was admitted here
 */
export async function prepare({ path, times, keys }: Work) {
  const store = sqliteStore(path, { driver: sqliteDriver() })
  const limiter = createLimiter({
    ...patient,
    store,
    limit: 100,
    window: '1d',
    algorithm: 'sliding-log',
  })
  await limiter.peek('ready')
  return async (): Promise<Record<string, number>> => {
    const counts = Object.fromEntries(keys.map((key) => [key, 0]))
    const ask = async (key: string) => {
      const { allowed, source } = await limiter.consume(key)
      if (source !== 'store') throw new Error(`decided by ${source}`)
      if (allowed) counts[key] = (counts[key] ?? 0) + 1
    }
    const half = Math.floor(times / 2)
    const burst = Array.from({ length: half }, () => keys.map(ask)).flat()
    for (let i = half; i < times; i += 1) await Promise.all(keys.map(ask))
    await Promise.all(burst)
    store.close()
    return counts
  }
}
