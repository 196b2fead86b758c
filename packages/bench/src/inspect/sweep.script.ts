import { redisStore } from '@sluice/core'
import { Redis } from 'ioredis'
import { defineTask } from '../processes/task.ts'

/** A reading of all keys. */
export interface Swept {
  readonly seconds: number
  readonly read: number
  /** The resident memory of the process after it, MB. */
  readonly rss: number
}

/** Reads all keys of a store, as `sluice top` does. */
defineTask(async (url: string): Promise<Swept> => {
  const store = redisStore(new Redis(url))
  const began = performance.now()
  let read = 0
  for await (const _ of store.inspect()) read += 1
  const seconds = (performance.now() - began) / 1000
  return { seconds, read, rss: process.memoryUsage.rss() / 2 ** 20 }
})
