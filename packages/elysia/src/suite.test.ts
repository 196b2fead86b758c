import { everyStore, frameworkRunner, useRedis } from '@sluice/test-harness/jest'
import { type AdapterStores, adapterSuite, fetchServer } from '@sluice/test-suites'
import { memoryStore, redisStore } from './index.ts'
import { onElysia } from './suite-kit.ts'

const redis = useRedis()

/** Each makes a store on a clock, or on its own without one. */
const stores: AdapterStores = {
  memory: (clock) => memoryStore({ ...(clock && { clock }) }),
  ...(everyStore && {
    Redis: (clock?: () => number) => redisStore(redis.client, { ...(clock && { clock }) }),
  }),
}

// On the servers of Bun and of @elysiajs/node: packages/system-tests/src/runtimes.
const addresses = new WeakMap<Request, string | undefined>()
const kit = onElysia(
  (app) =>
    fetchServer(async (request, address) => {
      addresses.set(request, address)
      return app.handle(request)
    }),
  {},
  ({ request }) => addresses.get(request),
)
adapterSuite(frameworkRunner, 'Elysia', kit, stores)
