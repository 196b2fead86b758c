// Who is refused by live policies, counted in a process that has none of their limiters.

import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter } from '../../index.ts'
import { loadPolicyChanges, PolicyControl, sharedDocumentsOf } from '../../operator.ts'
import { redisStore } from '../../stores/redis/redis-store.ts'

let redis: RedisServer
let client: Redis
let store: ReturnType<typeof redisStore>
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
})
afterAll(async () => {
  client?.disconnect()
  await redis.stop()
})
beforeEach(async () => {
  await redis.command('FLUSHALL')
  store = redisStore(client)
})

const API = { name: 'api', limit: 10, window: '1h', live: true } as const
const documents = () => sharedDocumentsOf(store, 'sluice')
const set = (settings: object) => new PolicyControl(documents()).set('api', settings)

async function counted(units: Readonly<Record<string, number>>, options: object = API) {
  const application = redisStore(client)
  const limiter = createLimiter({ ...patient, store: application, ...options } as never)
  for (const [key, cost] of Object.entries(units)) await limiter.consume(key, { cost })
  // It waits until the keyspaces are kept.
  for await (const entry of application.inspect()) expect(entry.prefix).toBe('sluice')
  return limiter
}

async function clients(): Promise<Record<string, unknown>> {
  const { PolicyClientCounter } = await loadPolicyChanges()
  const counter = await PolicyClientCounter.of(documents())
  for await (const entry of store.inspect()) counter.add(entry)
  return JSON.parse(JSON.stringify(Object.fromEntries(counter.clients)))
}

it('who has nothing left is refused, and in a dry run would be', async () => {
  await counted({ ada: 10, bob: 9, eve: 3 })
  await counted({ ada: 5 }, { ...API, name: 'other', window: '2h' })
  await counted({ ada: 10 }, { ...API, live: undefined, window: '1m' })
  const api = { counted: 3, refused: 1, wouldRefuse: 0, unknown: 0, own: 0 }
  expect(await clients()).toEqual({ api, other: { ...api, counted: 1, refused: 0 } })
})

it('goes by what is set, and leaves out who is blocked', async () => {
  const limiter = await counted({ ada: 10, bob: 9, eve: 3 })
  await set({ limit: 3, dryRun: true })
  expect(await clients()).toMatchObject({ api: { counted: 3, refused: 0, wouldRefuse: 3 } })
  await limiter.block('bob', '1h')
  await limiter.override('eve', { limit: 7 })
  expect(await clients()).toMatchObject({ api: { counted: 2, wouldRefuse: 1, own: 1 } })
})

it('with a share, those that are in it, as far as their keys are known', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `client-${i}`)
  const long = 'x'.repeat(200)
  const limiter = await counted(Object.fromEntries([...names, long].map((name) => [name, 10])))
  const refused = []
  const { policies } = limiter
  // The process takes it over.
  await policies.set('api', { enforce: 0.5 })
  for (const name of names) if (!(await limiter.peek(name)).allowed) refused.push(name)
  expect(refused.length).toBeGreaterThan(2)
  expect(await clients()).toMatchObject({
    api: { counted: 21, refused: refused.length, wouldRefuse: 20 - refused.length, unknown: 1 },
  })
})
