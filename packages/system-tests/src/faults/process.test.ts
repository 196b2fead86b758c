// Faults of this process, its clock or its load.

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createLimiter, memoryStore } from '@sluice/core'
import { type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { conclude, measured, measuredCases, note } from './figures.ts'
import { DEADLINE_MS, LIMIT, Load, undisturbed } from './load.ts'
import { warningCodes } from './warning-codes.ts'

/** Each costs some microseconds: only the table is worth a minute of them. */
const [IDS, MAX_KEYS] =
  process.env.SLUICE_FIGURES === undefined ? [60_000, 20_000] : [10_000_000, 100_000]

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

test.each([...measuredCases(['+1 h', 3_600_000] as const), ['-1 h', -3_600_000] as const])(
  'the clock of this process steps %s: nothing follows from it',
  async (step, ms) => {
    const report = await undisturbed(async () => {
      const load = new Load(client).start()
      await load.untilDecided(200)
      const now = Date.now
      const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + ms)
      await load.untilDecided(500)
      clock.mockRestore()
      return load.stop()
    })
    expect([...report.sources].sort()).toEqual(['cache', 'store'])
    conclude(14, `own clock ${step}`, report, { bound: 0, normalMs: undefined })
  },
)

measured('a clock that is set back during an outage does not prolong it', async () => {
  const load = new Load(client).start()
  await load.untilDecided(100)
  redis.pause()
  await load.untilDecidedBy('local')
  const now = Date.now
  jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000)
  redis.resume()
  const normalMs = await load.untilDecidedBy('store')
  conclude(14, 'own clock -1 h during an outage', await load.stop(), { bound: LIMIT, normalMs })
})

test('the event loop is blocked for a second: the store does not count as failed', async () => {
  const report = await undisturbed(async () => {
    const load = new Load(client).start()
    await load.untilDecided(200)
    const until = performance.now() + 1000
    while (performance.now() < until);
    await load.untilDecided(500)
    return load.stop()
  })
  expect([...report.sources].sort()).toEqual(['cache', 'store'])
  conclude(26, 'event loop blocked for 1 s', report, { bound: 0, normalMs: undefined })
})

measured('after an outage no calls are repeated', async () => {
  const load = new Load(client).start()
  await load.untilDecided(100)
  redis.pause()
  await load.untilDecidedBy('local')
  await load.untilDecided(3000)
  redis.resume()
  await redis.command('CONFIG', 'RESETSTAT')
  const { calls = 0 } = (await redis.commandStats()).evalsha ?? {}
  expect(calls).toBeLessThan(50)
  const normalMs = await load.untilDecidedBy('store')
  await load.untilDecided(500)
  conclude(28, 'back after 3,000 requests without it', await load.stop(), {
    bound: LIMIT,
    normalMs,
  })
})

test('millions of ids leave memory bounded and a refused client refused', () => {
  const store = memoryStore({ maxKeys: MAX_KEYS })
  const limiter = createLimiter({ store, limit: 2, window: '1h' })
  limiter.consume('abuser', { cost: 2 })
  let longestMs = 0
  for (let i = 0; i < IDS; i += 1) {
    limiter.consume(`id ${i}`)
    if (i % 1000 !== 0) continue
    const startedAt = performance.now()
    if (limiter.consume('abuser').allowed) throw new Error(`the abuser was admitted at id ${i}`)
    longestMs = Math.max(longestMs, performance.now() - startedAt)
  }
  expect(store.size).toBeLessThanOrEqual(MAX_KEYS)
  store.close()
  note({
    row: 19,
    fault: `${IDS.toLocaleString('en')} distinct ids`,
    waitedMs: Math.ceil(longestMs),
    excess: 0,
    bound: 0,
  })
})

test('an outage with as many clients is bounded too', async () => {
  await redis.kill()
  const limiter = createLimiter({ store: client, limit: 2, window: '1h' })
  const noticed = async () => {
    await limiter.consume('first')
    return warningCodes.length > 0
  }
  await until(noticed, { what: 'the outage is noticed' })
  await limiter.consume('abuser', { cost: 2 })
  for (let i = 0; i < 150_000; i += 1) await limiter.consume(`id ${i}`)
  expect((await limiter.consume('abuser')).allowed).toBe(false)
  const waitsForNobody = async () => {
    const startedAt = performance.now()
    await limiter.consume('another')
    return performance.now() - startedAt < DEADLINE_MS
  }
  await until(waitsForNobody, { what: 'a request is decided within the deadline' })
})

const LONE = String.fromCharCode(0xd800)
const CRAFTED = [
  'x'.repeat(2 ** 20),
  'a}b',
  '{a}',
  '}{',
  '{}',
  'a\\0b',
  LONE,
  '__proto__',
  'constructor',
  'a b',
  'ä',
  '*',
  '#',
]

test('crafted ids have a quota each, in keys of bounded size and slots of their own', async () => {
  const limiter = createLimiter({ store: client, limit: 1, window: '1h', deadline: '1m' })
  const first = await Promise.all(CRAFTED.map((id) => limiter.consume(id)))
  expect(first.filter(({ allowed }) => allowed)).toHaveLength(CRAFTED.length)
  const second = await Promise.all(CRAFTED.map((id) => limiter.consume(id)))
  expect(second.filter(({ allowed }) => allowed)).toEqual([])
  // Not the terms of the limit.
  const keys = (await client.keys('*')).filter((key) => !key.includes(':{#}:'))
  expect(keys).toHaveLength(CRAFTED.length)
  for (const key of keys) {
    expect(key.length).toBeLessThan(200)
    // One hash tag, or before it that of the shard which `{a}` names, and none that an id can move.
    expect(key.match(/[{}]/g)?.join('')).toMatch(/^({}){1,2}$/)
  }
  note({ row: 20, fault: 'crafted ids (1 MB, braces, NUL, …)', excess: 0, bound: 0 })
})
