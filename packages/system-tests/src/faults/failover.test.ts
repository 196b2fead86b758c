// Faults in which another server becomes the master, or the server's clock changes.

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { createLimiter, redisStore } from '@sluice/core'
import { describeUnless } from '@sluice/test-harness/jest'
import {
  patient,
  type RedisProxy,
  type RedisServer,
  startProxy,
  startRedis,
  startSentinel,
  whyNoClock,
} from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { conclude, note } from './figures.ts'
import { LIMIT, Load } from './load.ts'
import { warningCodes } from './warning-codes.ts'

const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

test('Sentinel replaces a killed master', async () => {
  const sentinel = await startSentinel()
  ends.push(() => sentinel.stop())
  const client = new Redis({
    sentinels: sentinel.sentinels.map(({ host, port }) => ({ host, port })),
    name: sentinel.name,
    disconnectTimeout: 0,
  })
  client.on('error', () => {})
  ends.push(() => client.disconnect())
  const load = new Load(client).start()
  await load.untilDecided(300)
  await sentinel.master.kill()
  await load.untilDecidedBy('local')
  const normalMs = await load.untilDecidedBy('store')
  await load.untilDecided(500)
  conclude(11, 'Sentinel failover', await load.stop(), { bound: LIMIT, normalMs })
})

describe('the address of the master leads to another, the old one is read-only', () => {
  let old: RedisServer
  let fresh: RedisServer
  let proxy: RedisProxy

  beforeEach(async () => {
    old = await startRedis()
    fresh = await startRedis({ args: ['--replicaof', `${old.host} ${old.port}`] })
    proxy = await startProxy(old)
    ends.push(
      () => old.stop(),
      () => fresh.stop(),
      () => proxy.stop(),
    )
  })

  async function failOver(): Promise<void> {
    proxy.retarget(fresh.port)
    await fresh.command('REPLICAOF', 'NO', 'ONE')
    await old.command('REPLICAOF', fresh.host, fresh.port)
  }

  test('ioredis with reconnectOnError', async () => {
    const client = new Redis(proxy.port, proxy.host, {
      disconnectTimeout: 0,
      reconnectOnError: ({ message }) => (message.includes('READONLY') ? 1 : false),
    })
    client.on('error', () => {})
    ends.push(() => client.disconnect())
    const load = new Load(client).start()
    await load.untilDecided(300)
    await failOver()
    const normalMs = await load.untilDecidedBy('store')
    await load.untilDecided(500)
    conclude(10, 'READONLY, ioredis', await load.stop(), { bound: LIMIT, normalMs })
  })

  test('node-redis with onReadOnly', async () => {
    const client = createClient({ url: proxy.url })
    client.on('error', () => {})
    await client.connect()
    ends.push(() => client.destroy())
    const store = redisStore(client, {
      onReadOnly: async () => {
        client.destroy()
        await client.connect()
      },
    })
    const load = new Load(store).start()
    await load.untilDecided(300)
    await failOver()
    const normalMs = await load.untilDecidedBy('store')
    await load.untilDecided(500)
    conclude(10, 'READONLY, node-redis', await load.stop(), { bound: LIMIT, normalMs })
  })
})

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describeUnless(whyNoClock(), 'the clock of the server steps', () => {
  test.each([
    ['an hour ahead', HOUR],
    ['an hour back', -HOUR],
  ])('by %s', async (how, step) => {
    const redis = await startRedis({ clockOffsetMs: 0 })
    ends.push(() => redis.stop())
    const client = new Redis(redis.url, { disconnectTimeout: 0 })
    ends.push(() => client.disconnect())
    let worst = 0
    for (const algorithm of [
      'sliding-window',
      'fixed-window',
      'sliding-log',
      'token-bucket',
    ] as const) {
      const limiter = createLimiter({
        ...patient,
        store: client,
        limit: LIMIT,
        window: '1m',
        algorithm,
      })
      const admitted = async () => {
        const all = await Promise.all(
          Array.from({ length: 3 * LIMIT }, () => limiter.consume('client')),
        )
        expect(Math.max(...all.map(({ retryAfterMs }) => retryAfterMs))).toBeLessThanOrEqual(
          2 * MINUTE,
        )
        return all.filter(({ allowed }) => allowed).length
      }
      // In the middle of a window, whose edge would give the quota back.
      const middle = MINUTE / 2 - (Date.now() % MINUTE)
      await redis.setClock(middle)
      const before = await admitted()
      await redis.setClock(middle + step)
      worst = Math.max(worst, before + (await admitted()) - LIMIT)
    }
    expect(worst).toBeLessThanOrEqual(LIMIT)
    const fault = `the server's clock ${how}`
    note({ row: 13, fault, excess: worst, bound: LIMIT })
  })
})

test('the ACL forbids scripts: it warns immediately, and this process decides', async () => {
  const redis = await startRedis()
  await redis.command('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-@scripting')
  ends.push(() => redis.stop())
  const client = new Redis(redis.port, redis.host, {
    username: 'app',
    password: 'secret',
    disconnectTimeout: 0,
  })
  ends.push(() => client.disconnect())
  await client.ping()
  const limiter = createLimiter({ ...patient, store: client, limit: 2, window: '1h' })
  expect((await limiter.consume('client')).source).toBe('local')
  expect(warningCodes).toEqual(['SLUICE_STORE_DOWN'])
  const load = new Load(client).start()
  await load.untilDecided(500)
  await redis.command('ACL', 'SETUSER', 'app', '+@all')
  const normalMs = await load.untilDecidedBy('store')
  conclude(8, 'ACL forbids scripts', await load.stop(), { bound: LIMIT, normalMs })
})

test('a node-redis client that nobody has connected is warned about immediately', async () => {
  const client = createClient({ url: 'redis://127.0.0.1:1' })
  const messages: string[] = []
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((message: string) => void messages.push(message)) as never)
  const limiter = createLimiter({ store: client, limit: 2, window: '1h' })
  expect((await limiter.consume('client')).source).toBe('local')
  expect(messages.join()).toContain('await client.connect()')
})
