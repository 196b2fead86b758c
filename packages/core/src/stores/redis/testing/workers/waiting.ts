import { defineWorker } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type LimiterOptions, redisStore } from '../../../../index.ts'

export interface Work {
  url: string
  options: LimiterOptions
  keys: readonly string[]
  /** Waits of this process for each key, all at once. */
  times: number
}

/** For each key and wait, in the order in which they began: when it was admitted, on Redis' clock, and its wait, ms. */
export type Waits = readonly (readonly { readonly at: number; readonly waitedMs: number }[])[]

defineWorker(async ({ url, options, keys, times }: Work) => {
  const client = new Redis(url)
  await client.ping()
  const store = redisStore(client)
  const limiter = createLimiter({ ...patient, ...options, store } as LimiterOptions)
  return () => {
    const began = performance.now()
    const one = async (key: string) => {
      const { at } = await limiter.wait(key)
      return { at, waitedMs: performance.now() - began }
    }
    return Promise.all(
      keys.map((key) => Promise.all(Array.from({ length: times }, () => one(key)))),
    )
  }
})
