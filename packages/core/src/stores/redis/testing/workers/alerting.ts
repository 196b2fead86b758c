import { appendFileSync } from 'node:fs'
import { defineWorker } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type LimiterOptions, redisStore } from '../../../../index.ts'
import type { Store } from '../../../store.ts'

export interface AlertingWork {
  url: string
  limiters: readonly LimiterOptions[]
  /** Requests of this process to each limiter, all at once, and settlements of one unit more. */
  times: number
  settlements?: number
  /** Where the process writes its events, a line each. */
  file: string
  /** Ends as by kill -9 with the reply to this request, from 1: Redis has charged it, nothing else has happened. */
  diesWith?: number
}

/** Its events are in the file. */
defineWorker(async ({ url, limiters, times, settlements = 0, file, diesWith }: AlertingWork) => {
  const client = new Redis(url)
  await client.ping()
  const onThreshold: LimiterOptions['onThreshold'] = ({ limiter, threshold }) =>
    appendFileSync(file, `${limiter} ${threshold}\n`)
  const store = diesWith === undefined ? redisStore(client) : dying(redisStore(client), diesWith)
  const made = limiters.map((options) =>
    createLimiter({ ...patient, ...options, store, onThreshold } as LimiterOptions),
  )
  return async () => {
    const all = made.flatMap((limiter) => [
      ...Array.from({ length: times }, () => limiter.consume('ada')),
      ...Array.from({ length: settlements }, () => limiter.settle('ada', 1)),
    ])
    await Promise.all(all)
    return true
  }
})

function dying(store: Store<'async'>, diesWith: number): Store<'async'> {
  let decided = 0
  return {
    ...store,
    open(...all) {
      const ledger = store.open(...all)
      return {
        change: (...change) => ledger.change(...change),
        async decide(requests, isPeek) {
          const results = []
          for (const charges of requests) {
            results.push(...(await ledger.decide([charges], isPeek)))
            decided += 1
            if (decided === diesWith) {
              process.kill(process.pid, 'SIGKILL')
              for (;;);
            }
          }
          return results
        },
      }
    },
  }
}
