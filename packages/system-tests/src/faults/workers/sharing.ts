import { createLimiter } from '@sluice/core'
import { defineWorker } from '@sluice/test-harness/processes'
import { Redis } from 'ioredis'

interface Work {
  url: string
  limit: number
  times: number
}

/** Gives how many requests this process admits alone, with a quarter of the limit. */
defineWorker(async ({ url, limit, times }: Work) => {
  const client = new Redis(url)
  client.on('error', () => {})
  const limiter = createLimiter({ store: client, limit, window: '1d', localShare: 0.25 })
  return async () => {
    let admitted = 0
    for (let i = 0; i < times; i += 1) if ((await limiter.consume('client')).allowed) admitted += 1
    client.disconnect()
    return admitted
  }
})
