import { everyStore, frameworkRunner, isAll, useRedis } from '@sluice/test-harness/jest'
import { type AdapterStores, adapterSuite } from '@sluice/test-suites'
import express5 from 'express'
import express4 from 'express4'
import { memoryStore, redisStore } from './index.ts'
import { kitOf } from './suite-kit.ts'

const redis = useRedis()

/** Each makes a store on a clock, or on its own without one. */
const memory: AdapterStores = { memory: (clock) => memoryStore({ ...(clock && { clock }) }) }
const remote: AdapterStores = {
  Redis: (clock) => redisStore(redis.client, { ...(clock && { clock }) }),
}
const every = everyStore && { ...memory, ...remote }

for (const [name, express, stores] of [
  ['Express 5', express5, every || remote],
  ...(isAll
    ? [['Express 4', express4 as unknown as typeof express5, every || memory] as const]
    : []),
] as const) {
  adapterSuite(frameworkRunner, name, kitOf(express), stores)
}
