// Faults of one Redis server, or of the network to it.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import {
  type RedisProxy,
  type RedisServer,
  startProxy,
  startRedis,
  until,
} from '@sluice/test-harness/redis'
import { Redis, type RedisOptions } from 'ioredis'
import { conclude, measured, measuredCases, note } from './figures.ts'
import { LIMIT, Load, undisturbed } from './load.ts'
import { warningCodes } from './warning-codes.ts'

let redis: RedisServer
let proxy: RedisProxy
const clients: Redis[] = []

/** An ioredis client with its defaults, through the proxy. */
function connect(options: RedisOptions = {}): Redis {
  const client = new Redis(proxy.port, proxy.host, { disconnectTimeout: 0, ...options })
  client.on('error', () => {})
  clients.push(client)
  return client
}

beforeEach(async () => {
  redis = await startRedis()
  proxy = await startProxy(redis)
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect()
  await proxy.stop()
  await redis.stop()
})

const DOWN_AND_UP = ['SLUICE_STORE_DOWN', 'SLUICE_STORE_UP']

test('Redis is absent at start', async () => {
  await redis.kill()
  const load = new Load(connect()).start()
  await load.untilDecided(500)
  expect(warningCodes).toEqual(['SLUICE_STORE_DOWN'])
  await redis.restart()
  const normalMs = await load.untilDecidedBy('store')
  expect(warningCodes).toEqual(DOWN_AND_UP)
  await load.untilNormal(500)
  const report = await load.stop()
  // A quota by this process, and another by the Redis that knows nothing of it.
  conclude(1, 'absent at start', report, { bound: LIMIT, normalMs })
})

test.each([
  ['without its data', false] as const,
  ...measuredCases(['with its data', true] as const),
])('Redis is killed under load, and comes back %s', async (how, keepData) => {
  const load = new Load(connect()).start()
  await load.untilNormal(200)
  if (keepData) await redis.command('SAVE')
  await redis.kill()
  await load.untilDecidedBy('local')
  await load.untilDecided(500)
  await redis.restart({ keepData })
  const normalMs = await load.untilDecidedBy('store')
  expect(warningCodes).toEqual(DOWN_AND_UP)
  await load.untilNormal(500)
  conclude(2, `killed under load, back ${how}`, await load.stop(), { bound: LIMIT, normalMs })
})

test('Redis is frozen, its sockets stay open', async () => {
  const load = new Load(connect()).start()
  await load.untilNormal(200)
  redis.pause()
  await load.untilDecidedBy('local')
  await load.untilDecided(500)
  redis.resume()
  const normalMs = await load.untilDecidedBy('store')
  expect(warningCodes).toEqual(DOWN_AND_UP)
  await load.untilNormal(500)
  conclude(3, 'frozen (SIGSTOP)', await load.stop(), { bound: LIMIT, normalMs })
})

test('the network swallows everything', async () => {
  const load = new Load(connect()).start()
  await load.untilDecided(200)
  proxy.blackhole()
  await load.untilDecidedBy('local')
  await load.untilDecided(500)
  proxy.blackhole(false)
  // Connections that have lost bytes stay silent until they are closed.
  proxy.cut()
  const normalMs = await load.untilDecidedBy('store')
  await load.untilDecided(500)
  conclude(3, 'network swallows everything', await load.stop(), { bound: LIMIT, normalMs })
})

describe('Redis is slow', () => {
  test.each([...measuredCases(1, 5), 20])('by %i ms: it still decides', async (ms) => {
    proxy.latency(ms)
    const report = await undisturbed(async () => {
      const load = new Load(connect()).start()
      await load.untilDecided(400)
      return load.stop()
    })
    conclude(4, `slow by ${ms} ms`, report, { bound: 0, normalMs: undefined })
  })

  test.each([...measuredCases(100), 150])(
    'by %i ms, too much: this process decides, until it is faster',
    async (ms) => {
      const client = connect()
      await client.ping()
      proxy.latency(ms)
      const load = new Load(client).start()
      await load.untilDecidedBy('local')
      await load.untilDecided(500)
      proxy.latency(0)
      const normalMs = await load.untilDecidedBy('store')
      await load.untilDecided(500)
      conclude(4, `slow by ${ms} ms`, await load.stop(), { bound: LIMIT, normalMs })
    },
  )

  measured('one reply in a hundred by 500 ms: it is still called', async () => {
    const client = connect()
    await client.ping()
    let replies = 0
    proxy.latency(() => {
      replies += 1
      return replies % 100 === 50 ? 500 : 0
    })
    const load = new Load(client).start()
    await load.untilDecided(1500)
    proxy.latency(0)
    const normalMs = await load.untilDecidedBy('store')
    const report = await load.stop()
    expect(report.sources.has('store')).toBe(true)
    conclude(4, '1 % of replies slow by 500 ms', report, { bound: LIMIT, normalMs })
  })

  test('once: one late reply does not open the breaker, and what it charged stays charged', async () => {
    const client = connect()
    let clients = 0
    // Another client if a stall makes more replies late, or delays the deadline too.
    const isChargedOnce = async () => {
      clients += 1
      warningCodes.length = 0
      const limiter = createLimiter({ store: client, limit: 10, window: '1d' })
      const key = `client ${clients}`
      const { source: before } = await limiter.consume(key)
      proxy.latency(300)
      const { source: late } = await limiter.consume(key)
      proxy.latency(0)
      const peeked = await until(
        async () => {
          const decision = await limiter.peek(key)
          return decision.source === 'store' ? decision : undefined
        },
        { what: 'the store answers again' },
      )
      const areDecided = before === 'store' && late === 'local'
      return areDecided && peeked?.remaining === 8 && warningCodes.length === 0
    }
    await until(isChargedOnce, { what: 'both requests are charged, without a warning' })
  })
})

describe('the reply is lost after the script has run', () => {
  test('a client that does not resend charges once', async () => {
    const client = connect({ autoResendUnfulfilledCommands: false })
    const limiter = createLimiter({ store: client, limit: 10, window: '1d' })
    await limiter.consume('client')
    proxy.loseReplies()
    expect(await limiter.consume('client')).toMatchObject({ source: 'local', remaining: 8 })
    proxy.loseReplies(false)
    proxy.cut()
    await until(async () => (await limiter.peek('client')).source === 'store', {
      what: 'the store answers again',
    })
    expect((await limiter.peek('client')).remaining).toBe(8)
  })

  measured('under load no client is admitted beyond what the two quotas allow', async () => {
    const load = new Load(connect()).start()
    await load.untilDecided(100)
    proxy.loseReplies()
    await load.untilDecidedBy('local')
    proxy.loseReplies(false)
    proxy.cut()
    const normalMs = await load.untilDecidedBy('store')
    await load.untilDecided(500)
    conclude(5, 'replies lost after execution', await load.stop(), { bound: LIMIT, normalMs })
  })
})

test('a hundred clients come back after an outage, each with a probe at a time', async () => {
  const limiters = Array.from({ length: 100 }, (_, i) =>
    createLimiter({ store: connect(), limit: 10 ** 6, window: '1d', prefix: `p${i}` }),
  )
  let waitedMs = 0
  const sweep = async () => {
    const startedAt = performance.now()
    const decisions = await Promise.all(limiters.map((limiter) => limiter.consume('client')))
    waitedMs = Math.max(waitedMs, performance.now() - startedAt)
    return new Set(decisions.map(({ source }) => source))
  }
  const decidedBy = (source: 'store' | 'local') =>
    until(
      async () => {
        const sources = await sweep()
        return sources.size === 1 && sources.has(source)
      },
      { what: `'${source}' decides for all` },
    )
  await decidedBy('store')
  waitedMs = 0
  redis.pause()
  await decidedBy('local')
  for (let i = 0; i < 300; i += 1) await sweep()
  redis.resume()
  await redis.command('CONFIG', 'RESETSTAT')
  const { calls: queued = 0 } = (await redis.commandStats()).evalsha ?? {}
  // The calls in progress when the breakers opened, and the probes since; not 300 requests each.
  expect(queued).toBeLessThanOrEqual(100 * 13)
  const resumedAt = performance.now()
  await decidedBy('store')
  note({
    row: 6,
    fault: '100 clients come back together',
    waitedMs: Math.ceil(waitedMs),
    normalMs: Math.ceil(performance.now() - resumedAt),
  })
})
