import { afterAll, afterEach, beforeAll, describe } from '@jest/globals'
import { memoryStore, redisStore } from '@sluice/core'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import type { Adapter } from './adapter.ts'
import { accessTests } from './tables/access.ts'
import { addressTests } from './tables/addresses.ts'
import { corsTests } from './tables/cors.ts'
import { decisionTests } from './tables/decisions.ts'
import { errorTests } from './tables/errors.ts'
import { failureTests } from './tables/failures.ts'
import { fieldTests } from './tables/fields.ts'
import { keyTests } from './tables/keys.ts'
import { peerTests } from './tables/peers.ts'
import { policyTests } from './tables/policies.ts'
import { proxyTests } from './tables/proxies.ts'
import { refusalTests } from './tables/refusals.ts'
import { retryAfterTests } from './tables/retry-after.ts'
import { settleTests } from './tables/settle.ts'
import { stackTests } from './tables/stacks.ts'
import { unitTests } from './tables/units.ts'
import { vectorTests } from './tables/vectors.ts'
import { waitingTests } from './tables/waiting.ts'
import { type MakeStore, World } from './world.ts'

const TABLES: Record<string, (world: World) => void> = {
  'header fields': fieldTests,
  'header texts of the specification': vectorTests,
  'Retry-After': retryAfterTests,
  refusals: refusalTests,
  'client addresses': addressTests,
  'trusted proxies': proxyTests,
  'allow and deny': accessTests,
  'keys, users, limits and costs': keyTests,
  'functions that fail': errorTests,
  policies: policyTests,
  'budgets in tokens': unitTests,
  decisions: decisionTests,
  'charges settled after the response': settleTests,
  'requests that wait their turn': waitingTests,
  'stacked limiters': stackTests,
  CORS: corsTests,
  'faults of the peers': peerTests,
}

/**
 * Registers the tests that every adapter passes: over real sockets, in memory and on a Redis
 * server of its own.
 */
export function adapterSuite<Request, Response>(
  name: string,
  adapter: Adapter<Request, Response>,
): void {
  let server: RedisServer
  let client: Redis
  const stores: Record<string, MakeStore> = {
    memory: (clock) => memoryStore(clock === undefined ? {} : { clock }),
    Redis: (clock) => redisStore(client, clock === undefined ? {} : { clock }),
  }

  describe(name, () => {
    beforeAll(async () => {
      server = await startRedis()
      client = new Redis(server.port, server.host)
    })
    afterAll(async () => {
      client.disconnect()
      await server.stop()
    })

    describe.each(Object.keys(stores))('with the store %s', (store) => {
      const world = new World(adapter as never, stores[store] as MakeStore)
      afterEach(() => world.end())
      for (const [title, table] of Object.entries(TABLES)) describe(title, () => table(world))
    })

    describe('a store that fails', () => {
      const world = new World(adapter as never, stores.memory as MakeStore)
      afterEach(() => world.end())
      failureTests(world)
    })
  })
}
