// How the policies of applications are listed in a process that has none of their limiters.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter } from '../../index.ts'
import { PolicyControl, sharedDocumentsOf } from '../../operator.ts'
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

const control = () => new PolicyControl(sharedDocumentsOf(store, 'sluice'))

/** An application that has counted these units of clients. */
async function counted(options: object, units: Readonly<Record<string, number>>): Promise<void> {
  const application = redisStore(client)
  const limiter = createLimiter({ ...patient, store: application, ...options } as never)
  for (const [key, cost] of Object.entries(units)) await limiter.consume(key, { cost })
  // It waits until the keyspaces are kept.
  for await (const entry of application.inspect()) expect(entry.prefix).toBe('sluice')
  limiter.close()
}

const API = { name: 'api', limit: 10, window: '1h', live: true } as const

describe('list', () => {
  it('has the limit of the window that applications have now', async () => {
    await counted({ ...API, limit: 5, window: '1s' }, { ada: 1 })
    await counted({ ...API, window: '1m' }, { ada: 1 })
    expect(await control().list()).toMatchObject([{ name: 'api', windowMs: 60_000, limit: 10 }])
  })

  it.each([
    [{ dryRun: true }, 0],
    [{ enforce: 1e-7 }, 1e-7],
    [{}, 1],
  ])('says whom a policy refuses by its code: %j', async (options, enforced) => {
    const { name, ...api } = API
    await counted({ name, policies: [{ name: 'default', ...api, ...options }] }, { ada: 1 })
    expect(await control().list()).toMatchObject([{ name: 'api', enforced, limit: 10 }])
    await control().set('api', { enforce: 0.5 })
    expect(await control().list()).toMatchObject([{ enforced: 0.5, problem: undefined }])
  })

  it('has a policy whose name every object has', async () => {
    await counted({ ...API, name: 'constructor' }, { ada: 1 })
    await counted({ ...API, name: '__proto__', window: '1m' }, { ada: 1 })
    expect(await control().list()).toMatchObject([
      { name: '__proto__', settings: undefined },
      { name: 'constructor', settings: undefined },
    ])
    await control().set('__proto__', { limit: 7 })
    await control().apply({ constructor: { limit: 8 } })
    expect(await control().list()).toMatchObject([{ limit: 10 }, { limit: 8 }])
    await control().rollback()
    expect(await control().list()).toMatchObject([{ limit: 7 }, { limit: 10 }])
  })

  it('passes over keyspaces whose name of a policy can not be read', async () => {
    await counted(API, { ada: 1 })
    const key = 'sluice:{#}:keyspaces'
    const text = (await client.get(key)) as string
    await client.set(key, `${text}\n${Date.now() + 1e6} sluice 5;live=%E0,0,9 fixed-window:1000:x`)
    expect(await control().list()).toMatchObject([{ name: 'api' }])
    for await (const entry of store.inspect()) expect(entry.limit).toBe(10)
  })

  it.each([
    ['no document', 'nothing'],
    ['another form', `${'a'.repeat(16)}\n{"form":9,"policies":{},"history":[]}`],
    ['10 MB', `${'a'.repeat(16)}\n{"form":1,"filler":"${'x'.repeat(1e7)}"}`],
  ])('says why a document is ignored, and a change replaces it: %s', async (_, text) => {
    await counted(API, { ada: 1 })
    await client.set('sluice:{#}:policies', text)
    const [state] = await control().list()
    expect(state).toMatchObject({ limit: 10, problem: expect.stringMatching(/^it(s| )/) })
    await control().set('api', { limit: 20 })
    expect(await control().list()).toMatchObject([{ limit: 20, problem: undefined }])
  })

  it('has no changes that are none', async () => {
    await counted(API, { ada: 1 })
    await control().set('api', { limit: 20 })
    const key = 'sluice:{#}:policies'
    const [version, json = ''] = ((await client.get(key)) as string).split('\n')
    const document = JSON.parse(json)
    const [good] = document.history
    document.history = [
      ...[{ at: 8.64e15 + 1 }, { by: 7 }, { before: { api: 5 } }, { after: undefined }].map(
        (wrong) => ({ ...good, ...wrong }),
      ),
      good,
    ]
    await client.set(key, `${version}\n${JSON.stringify(document)}`)
    expect(await control().history()).toEqual([good])
  })
})
