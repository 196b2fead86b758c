import 'reflect-metadata'
import { everyStore, frameworkRunner, useRedis } from '@sluice/test-harness/jest'
import { type AdapterStores, adapterSuite } from '@sluice/test-suites'
import { memoryStore, redisStore } from './index.ts'
import { onExpress, onFastify } from './testing/kits.ts'

const redis = useRedis()

/** Each makes a store on a clock, or on its own without one. */
const stores: AdapterStores = {
  memory: (clock) => memoryStore({ ...(clock && { clock }) }),
  ...(everyStore && {
    Redis: (clock?: () => number) => redisStore(redis.client, { ...(clock && { clock }) }),
  }),
}

adapterSuite(frameworkRunner, 'Nest 11 on Express', onExpress, stores)
// Nest 12 runs it on Fastify: see testing/packed-suite.ts.
if (everyStore) adapterSuite(frameworkRunner, 'Nest 11 on Fastify', onFastify, stores)
