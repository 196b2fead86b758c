import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type Limiter } from '../../../index.ts'
import { type PolicyControl, policyControl, sharedDocumentsOf } from '../../../operator.ts'
import { redisStore } from '../../../stores/redis/redis-store.ts'

export const API = { name: 'api', limit: 10, window: '1h', live: true } as const

/** A Redis that is empty at each test, with a store in which this process has no limiters. */
export class ClientsOnRedis {
  client = undefined as unknown as Redis
  store = undefined as unknown as ReturnType<typeof redisStore>
  #redis = undefined as unknown as RedisServer
  readonly #limiters: Limiter<'async'>[] = []

  constructor() {
    beforeAll(async () => {
      this.#redis = await startRedis()
      this.client = new Redis(this.#redis.url)
    })
    afterAll(async () => {
      this.client?.disconnect()
      await this.#redis.stop()
    })
    beforeEach(async () => {
      // They would write again the settings that they know.
      for (const limiter of this.#limiters.splice(0)) limiter.close()
      await this.#redis.command('FLUSHALL')
      this.store = redisStore(this.client)
    })
  }

  get documents() {
    return sharedDocumentsOf(this.store, 'sluice')
  }

  get control(): PolicyControl {
    return policyControl(this.documents)
  }

  /** The limiter of an application that has counted these units of clients. */
  async counted(
    units: Readonly<Record<string, number>>,
    options: object = API,
  ): Promise<Limiter<'async'>> {
    const store = redisStore(this.client)
    const limiter = createLimiter({ ...patient, ...(options as typeof API), store })
    this.#limiters.push(limiter)
    for (const [key, cost] of Object.entries(units)) await limiter.consume(key, { cost })
    // It waits until the keyspaces are kept.
    for await (const entry of store.inspect()) expect(entry.prefix).toBe('sluice')
    return limiter
  }
}
