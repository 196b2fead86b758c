import { Redis } from 'ioredis'
import { defineWorker } from '../worker.ts'

/** Increments until Redis has failed and come back. */
defineWorker(async ({ port }: { port: number }) => {
  const client = new Redis(port, {
    maxRetriesPerRequest: 0,
    retryStrategy: () => 20,
    disconnectTimeout: 0,
  })
  client.on('error', () => {})
  await client.ping()
  return async () => {
    const counts = { before: 0, failed: 0, after: 0 }
    while (counts.after < 10) {
      const succeeded = await client.incr('count').then(
        () => true,
        () => false,
      )
      if (!succeeded) counts.failed++
      else if (counts.failed > 0) counts.after++
      else counts.before++
    }
    return counts
  }
})
