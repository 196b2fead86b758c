import { defineWorker } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type LimiterOptions, redisStore } from '../../../../index.ts'

export interface Work {
  url: string
  limiters: readonly LimiterOptions[]
  /** Requests of this process to each limiter, all at once. */
  times: number
  /** ms: where the clock stands still; without it the server's clock goes on. */
  now?: number
}

/** Gives how many requests each limiter has admitted here. */
defineWorker(async ({ url, limiters, times, now }: Work) => {
  const client = new Redis(url)
  await client.ping()
  const store = redisStore(client, now === undefined ? {} : { clock: () => now })
  const made = limiters.map((options) =>
    createLimiter({ ...patient, ...options, store } as LimiterOptions),
  )
  return () =>
    Promise.all(
      made.map(async (limiter) => {
        const requests = Array.from({ length: times }, () => limiter.consume('client'))
        return (await Promise.all(requests)).filter(({ allowed }) => allowed).length
      }),
    )
})
