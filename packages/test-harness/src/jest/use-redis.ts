import { afterAll, beforeAll } from '@jest/globals'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../redis/index.ts'

/** A Redis server for the tests of a file, and a client of it. Both are there once the tests run. */
export function useRedis(): { readonly server: RedisServer; readonly client: Redis } {
  const used: { server?: RedisServer; client?: Redis } = {}
  beforeAll(async () => {
    used.server = await startRedis()
    used.client = new Redis(used.server.url)
  })
  afterAll(async () => {
    used.client?.disconnect()
    await used.server?.stop()
  })
  return used as { server: RedisServer; client: Redis }
}
