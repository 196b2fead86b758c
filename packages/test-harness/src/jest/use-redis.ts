import { afterAll, beforeAll } from '@jest/globals'
import { Redis } from 'ioredis'
import { startRedis } from '../redis/index.ts'

/** A Redis server for the tests of a file, and a client of it, which is there once they run. */
export function useRedis(): { readonly client: Redis } {
  const used: { client?: Redis } = {}
  let stop: () => Promise<void>
  beforeAll(async () => {
    const server = await startRedis()
    stop = () => server.stop()
    used.client = new Redis(server.url)
  })
  afterAll(async () => {
    used.client?.disconnect()
    await stop?.()
  })
  return used as { client: Redis }
}
