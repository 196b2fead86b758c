import { Redis } from 'ioredis'
import { defineWorker } from '../worker.ts'

defineWorker(async ({ url, times }: { url: string; times: number }) => {
  const client = new Redis(url)
  await client.ping()
  const readyAt = Date.now()
  return async () => {
    const begunAt = Date.now()
    const counts = await Promise.all(Array.from({ length: times }, () => client.incr('count')))
    return { pid: process.pid, readyAt, begunAt, counts }
  }
})
