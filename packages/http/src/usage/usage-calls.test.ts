// What a request for usage costs a store, and that parts which share a call stay apart.

import type { IncomingMessage } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { redisStore, type Store } from '@sluice/core'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { RoutedLimiter } from '../path/routed-limiter.ts'
import { plain } from '../testing/plain-server.ts'
import { usageOf } from './usage.ts'

let redis: RedisServer
let client: Redis
let store: Store<'async'>
/** How often the store was asked how keys stand. */
let peeks = 0
let isAway = false
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
  const whole = redisStore(client)
  store = {
    ...whole,
    documents: undefined,
    open(...of) {
      const ledger = whole.open(...of)
      const decide: typeof ledger.decide = (requests, isPeek) => {
        if (isPeek) peeks += 1
        return isAway ? Promise.reject(new Error('away')) : ledger.decide(requests, isPeek)
      }
      return { shard: ledger.shard, decide, change: (...given) => ledger.change(...given) }
    },
  }
})
const closing: { close(): void }[] = []
afterEach(async () => {
  for (const each of closing.splice(0)) each.close()
  isAway = false
  peeks = 0
  await redis.command('FLUSHALL')
})
afterAll(async () => {
  client.disconnect()
  await redis.stop()
})

const address = '203.0.113.7'
const request = {
  method: 'GET',
  url: '/usage',
  headers: {},
  socket: { remoteAddress: address },
} as IncomingMessage

function limiterWith(options: object, routes: object) {
  const terms = { ...patient, store, limit: 10, window: '1h', routes }
  const limiter = new RoutedLimiter({ ...terms, ...options } as never, plain as never)
  closing.push(limiter.limiter)
  const usage = async () => {
    const known = await usageOf(limiter.httpLimiters, request as never)
    return known as NonNullable<typeof known>
  }
  return { limiter, usage }
}

const routesOf = (count: number, own: object) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`/r${i}`, { limit: i + 1, ...own }]))

test.each([
  [{}, 15, 1],
  [{}, 100, 1],
  [{ ban: { after: 3, within: '1m', for: ['1m'] } }, 75, 1],
  [{}, 400, 3],
])('%j and %i routes are %i calls', async (options, count, calls) => {
  const { limiter, usage } = limiterWith(options, routesOf(count, { window: '1m' }))
  for (const each of limiter.httpLimiters) await each.limiter.consume(address, { cost: 1 })
  const { policies } = await usage()
  expect(policies.map(({ limit, used }) => [limit, used])).toEqual([
    [10, 1],
    ...Array.from({ length: count }, (_, i) => [i + 1, 1]),
  ])
  expect(peeks).toBe(calls)
})

// With many policies, Redis reads them in another way.
test.each([0, 20])(
  'parts differ in key, window, algorithm, slots, own limits, dry runs, bans and lists; %i others',
  async (others) => {
    const ban = { after: 1, within: '1h', for: ['10m'] }
    const key = () => 'ada'
    const { limiter, usage } = limiterWith(
      { ban },
      {
        '/log': { limit: 3, window: '1m', algorithm: 'sliding-log', key },
        '/slots': { concurrent: 2, ban: undefined },
        '/listed': { limit: 7, window: '1m', allow: ['203.0.113.0/24'] },
        '/unread': { limit: 8, window: '1m', key: () => JSON.parse('') },
        '/window': { limit: 5, window: () => '2m' },
        '/two': {
          policies: [
            { name: 'a', limit: 4, window: '1m' },
            { name: 'b', limit: 6, window: '1h', dryRun: true },
          ],
        },
        ...routesOf(others, { window: '1m' }),
      },
    )
    const [, log, , , , , two] = [...limiter.httpLimiters]
    for (let i = 0; i < 5; i += 1) await log?.limiter.consume('key:ada')
    await two?.limiter.consume(address, { cost: 2 })
    await two?.limiter.override(address, { policy: 'b', limit: 9 })
    const { policies, routes, bannedUntil, complete } = await usage()
    expect(complete).toBe(true)
    expect(bannedUntil).toBeUndefined()
    expect(routes).toEqual([
      { route: '/log', bannedUntil: expect.any(String) },
      { route: '/listed', listed: 'allow' },
      { route: '/unread', complete: false },
    ])
    expect(
      policies
        .slice(0, 6)
        .map(({ policy, route, limit, used, windowMs, dryRun }) => [
          policy,
          route,
          limit,
          used,
          windowMs,
          dryRun,
        ]),
    ).toEqual([
      ['default', undefined, 10, 0, 3_600_000, undefined],
      ['default', '/log', 3, undefined, 60_000, undefined],
      ['default', '/slots', 2, 0, undefined, undefined],
      ['default', '/window', 5, 0, 120_000, undefined],
      ['a', '/two', 4, 2, 60_000, undefined],
      ['b', '/two', 9, 2, 3_600_000, true],
    ])
    expect(peeks).toBe(1)
  },
)

test('while the store is away, each part has what this process has counted', async () => {
  const { limiter, usage } = limiterWith(
    { onStoreError: 'local', localShare: 0.5 },
    { '/a': { limit: 6, window: '1m' } },
  )
  const [base, route] = [...limiter.httpLimiters]
  await base?.limiter.consume(address)
  await route?.limiter.consume(address, { cost: 2 })
  isAway = true
  const { complete, policies } = await usage()
  expect(complete).toBe(false)
  expect(policies.map(({ limit, remaining }) => [limit, remaining])).toEqual([
    [10, 4],
    [6, 1],
  ])
})
