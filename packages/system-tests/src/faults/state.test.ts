// Faults in which Redis stays up, but loses or refuses something.

import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLimiter, type RedisClient, redisStore } from '@sluice/core'
import { patient, type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { conclude, note } from './figures.ts'
import { LIMIT, Load, undisturbed } from './load.ts'
import { warningCodes } from './warning-codes.ts'

let redis: RedisServer
let client: Redis

beforeEach(async () => {
  redis = await startRedis()
  client = new Redis(redis.url, { disconnectTimeout: 0 })
  client.on('error', () => {})
})
afterEach(async () => {
  client.disconnect()
  await redis.stop()
})

test('its scripts are flushed again and again, and a thousand foreign ones come', async () => {
  const report = await undisturbed(async () => {
    const load = new Load(client).start()
    for (let i = 0; i < 1000; i += 1) {
      await client.eval(`return ${i}`, 0)
      if (i % 50 === 0) await client.script('FLUSH')
    }
    await load.untilDecided(200)
    return load.stop()
  })
  expect([...report.sources].sort()).toEqual(['cache', 'store'])
  conclude(7, 'scripts flushed, 1,000 foreign ones', report, { bound: 0, normalMs: undefined })
})

test('no memory is left, and nothing may be evicted', async () => {
  const load = new Load(client).start()
  await load.untilNormal(100)
  await redis.command('CONFIG', 'SET', 'maxmemory', '1')
  await load.untilDecidedBy('local')
  await load.untilDecided(500)
  await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  const normalMs = await load.untilDecidedBy('store')
  expect(warningCodes).toEqual(['SLUICE_STORE_DOWN', 'SLUICE_STORE_UP'])
  await load.untilNormal(500)
  conclude(15, 'out of memory (noeviction)', await load.stop(), { bound: LIMIT, normalMs })
})

test('the key of a client is evicted: it has one new quota', async () => {
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random')
  const options = { store: client, limit: LIMIT, window: '1d', algorithm: 'sliding-log' } as const
  const limiter = createLimiter({ ...options, ...patient })
  const admitted = async () => {
    const all = await Promise.all(
      Array.from({ length: 3 * LIMIT }, () => limiter.consume('client')),
    )
    return all.filter(({ allowed }) => allowed).length
  }
  expect(await admitted()).toBe(LIMIT)
  const { used_memory } = await redis.info('memory')
  await redis.command('CONFIG', 'SET', 'maxmemory', Number(used_memory) + 2 ** 20)
  const junk = 'x'.repeat(10_000)
  for (let i = 0; (await client.keys('sluice:*')).length > 0; i += 1) await client.set(`${i}`, junk)
  expect(await admitted()).toBe(LIMIT)
  note({ row: 16, fault: 'the key of a client evicted', excess: LIMIT, bound: LIMIT })
})

test('the limit is changed while it runs: both limits have one count', async () => {
  // Each has a store of its own, as in another process.
  const limiterOf = (limit: number) =>
    createLimiter({
      ...patient,
      store: redisStore(client),
      limit,
      window: '1d',
      algorithm: 'sliding-log',
    })
  const admitted = async (limit: number) => {
    const limiter = limiterOf(limit)
    const all = await Promise.all(Array.from({ length: 60 }, () => limiter.consume('client')))
    return all.filter(({ allowed }) => allowed).length
  }
  const counts = await Promise.all([admitted(30), admitted(20), admitted(30)])
  expect(counts.reduce((sum, count) => sum + count)).toBe(30)
  expect(await Promise.all([admitted(30), admitted(20)])).toEqual([0, 0])
  note({ row: 22, fault: 'the limit changed while running, 30 to 20', excess: 0, bound: 0 })
})

test('two versions of the script side by side share the counts to the last request', async () => {
  const limit = { window: '1d', limit: 30, algorithm: 'sliding-window' } as const
  const limiters = [client, another(client)].map((store) =>
    createLimiter({ ...patient, ...limit, store }),
  )
  const all = await Promise.all(
    Array.from({ length: 60 }, (_, i) => limiters[i % 2]!.consume('client')),
  )
  expect(all.filter(({ allowed }) => allowed)).toHaveLength(30)
  const scripts = async () => Number((await redis.info('memory')).number_of_cached_scripts)
  // Of each version one that decides and, in the background, one that writes the terms of the limit and one that
  // reads which networks are blocked.
  await until(async () => (await scripts()) === 6, { what: 'each version has run its scripts' })
  note({ row: 22, fault: 'two versions of the script side by side', excess: 0, bound: 0 })
})

/** A client by which the scripts have other text, and so other digests. */
function another(inner: Redis): RedisClient {
  const evalsha = () => Promise.reject(new Error('NOSCRIPT No matching script.'))
  const version = (text: string) => `-- another version\n${text}`
  return {
    status: inner.status,
    evalsha,
    evalshaBuffer: evalsha,
    eval: (text: string, ...rest: [number, ...string[]]) => inner.eval(version(text), ...rest),
    evalBuffer: (text: string, ...rest: [number, ...string[]]) =>
      inner.callBuffer('EVAL', version(text), ...rest),
  } as RedisClient
}
