// The user's client is handed over as it is, and stays as it is.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { createLimiter, type RedisClient, redisStore, type Store } from '../../index.ts'
import { clients, picture } from './testing/clients.ts'
import type { Open } from './testing/every-client.ts'
import { expectAllToExpire, expiries } from './testing/ttl.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(async () => {
  const left = await expiries(redis, 4)
  await redis.stop()
  expectAllToExpire(left)
})

const policies = [
  { name: 'burst', limit: 30, window: '1d', algorithm: 'token-bucket' },
  { name: 'log', limit: 50, window: '1d', algorithm: 'sliding-log' },
  { name: 'day', limit: 1000, window: '1d' },
] as const

describe.each(clients)('%s', (name, connect) => {
  let open: Open
  const limiterOf = (store: RedisClient | Store<'async'> = open.client) =>
    createLimiter({ ...patient, store, policies, prefix: name.replace(/\W/g, '-') })

  beforeEach(async () => {
    await redis.command('FLUSHALL')
    await redis.command('SCRIPT', 'FLUSH')
    open = await connect(redis.url)
  })
  afterEach(() => open.close())

  test('is limited by', async () => {
    const limiter = limiterOf()
    const decisions = await Promise.all(Array.from({ length: 60 }, () => limiter.consume('client')))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(30)
    const { remaining, policies } = await limiter.peek('client')
    expect([remaining, ...policies.map((each) => each.remaining)]).toEqual([0, 0, 20, 970])
    await limiter.settle('client', -30)
    expect((await limiter.peek('client')).policies.map((each) => each.remaining)).toEqual([
      30, 50, 1000,
    ])
    await limiter.block('client', '1m')
    expect((await limiter.consume('client')).allowed).toBe(false)
    const blocked = []
    const prefix = name.replace(/\W/g, '-')
    for await (const { policy, key, blockedMs } of redisStore(open.client).inspect({ prefix })) {
      blocked.push([policy, key])
      expect(blockedMs).toBeGreaterThan(0)
    }
    expect(blocked.sort()).toEqual(['burst', 'day', 'log'].map((policy) => [policy, 'client']))
    await limiter.reset('client')
    expect((await limiter.consume('client')).policies.map((each) => each.remaining)).toEqual([
      29, 49, 999,
    ])
    expect(await expiries(redis, 4)).toHaveLength(3)
  })

  test('is not altered, nor closed with the limiter', async () => {
    await open.ping()
    const before = picture(open.client)
    const store = redisStore(open.client)
    const limiter = limiterOf(store)
    // As many as share a call: for two calls a pool opens another connection.
    await Promise.all(Array.from({ length: 5 }, () => limiter.consume('client')))
    // Waits for the terms of the limits, which are written beside the first call.
    for await (const _ of store.inspect({ prefix: 'none' })) break
    await limiter.settle('client', -1)
    limiter.close()
    // Behind what the limiter reads in the background.
    expect(String(await open.ping())).toBe('PONG')
    expect(picture(open.client)).toEqual(before)
  })
})
