import { everyStore, frameworkRunner, isAll, useRedis } from '@sluice/test-harness/jest'
import { type AdapterStores, adapterSuite } from '@sluice/test-suites'
import Koa3 from 'koa'
import Koa2 from 'koa2'
import { memoryStore, redisStore } from './index.ts'
import { kitOf } from './suite-kit.ts'

const redis = useRedis()

/** Each makes a store on a clock, or on its own without one. */
const memory: AdapterStores = { memory: (clock) => memoryStore({ ...(clock && { clock }) }) }
const stores: AdapterStores = {
  ...memory,
  ...(everyStore && {
    Redis: (clock?: () => number) => redisStore(redis.client, { ...(clock && { clock }) }),
  }),
}

// Nothing that a store does depends on the version of the framework.
for (const [name, Koa, kept] of [
  ['Koa 3', Koa3, stores],
  ...(isAll ? [['Koa 2', Koa2 as unknown as typeof Koa3, memory] as const] : []),
] as const) {
  adapterSuite(frameworkRunner, name, kitOf(Koa), kept)
}
