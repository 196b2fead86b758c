import { defineWorker } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type LimiterOptions, redisStore } from '../../../../index.ts'

export interface Work {
  url: string
  limiters: readonly LimiterOptions[]
  /** The limits of the processes, in place of those of their limiters. */
  limits?: readonly number[]
  /** Units of a top-up that each process makes several times with one id, before its requests. */
  granted?: number
  /** Requests of this process to each limiter, all at once. */
  times: number
  /** ms: where the clock stands still; without it the server's clock goes on. */
  now?: number
}

/** Gives how many requests each limiter has admitted here. */
defineWorker(async ({ url, limiters, limits, granted, times, now }: Work, number) => {
  const client = new Redis(url)
  await client.ping()
  const store = redisStore(client, now === undefined ? {} : { clock: () => now })
  const made = limiters.map((options) =>
    createLimiter({
      ...patient,
      ...options,
      limit: limits?.[number] ?? options.limit,
      store,
    } as LimiterOptions),
  )
  return () =>
    Promise.all(
      made.map(async (limiter, i) => {
        const canGrant = granted !== undefined && !limiters[i]?.algorithm?.endsWith('bucket')
        const grant = () => canGrant && limiter.grant('client', granted, { id: 'invoice-1' })
        await Promise.all([grant(), grant(), grant()])
        const requests = Array.from({ length: times }, () => limiter.consume('client'))
        return (await Promise.all(requests)).filter(({ allowed }) => allowed).length
      }),
    )
})
