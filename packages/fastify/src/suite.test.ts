import { everyStore, frameworkRunner, useRedis } from '@sluice/test-harness/jest'
import { type AdapterStores, adapterSuite } from '@sluice/test-suites'
import { memoryStore, redisStore } from './index.ts'
import { kit } from './suite-kit.ts'

const redis = useRedis()

/** Each makes a store on a clock, or on its own without one. */
const stores: AdapterStores = {
  memory: (clock) => memoryStore({ ...(clock && { clock }) }),
  ...(everyStore && {
    Redis: (clock?: () => number) => redisStore(redis.client, { ...(clock && { clock }) }),
  }),
}

adapterSuite(frameworkRunner, 'Fastify 5', kit, stores)
