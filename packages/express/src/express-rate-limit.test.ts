// What express-rate-limit promises its users, with counts kept by Sluice.

import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { failingStore, manualClock } from '@sluice/core/testing'
import { useRedis } from '@sluice/test-harness/jest'
import { patient } from '@sluice/test-harness/redis'
import express from 'express'
import { type Options, rateLimit as rateLimit8 } from 'express-rate-limit'
import { rateLimit as rateLimit7 } from 'express-rate-limit7'
import { sluiceStore } from './express-rate-limit.ts'
import { createLimiter, type LimiterOptions, memoryStore } from './index.ts'

const redis = useRedis()
const clock = manualClock()
const TERMS = { limit: 5, window: '1m', algorithm: 'fixed-window' } as const

const servers: Server[] = []
const warned: string[] = []
beforeEach(() => {
  warned.length = 0
  jest.spyOn(process, 'emitWarning').mockImplementation(((
    _: string,
    { code }: { code: string },
  ) => {
    warned.push(code)
  }) as typeof process.emitWarning)
})
afterEach(() => {
  jest.restoreAllMocks()
  for (const server of servers.splice(0)) server.close()
})

let prefixes = 0
/** A server behind express-rate-limit, and the limiter that counts for it. */
async function start(
  options: Partial<Options>,
  { store = memoryStore({ clock }), ...terms }: Partial<LimiterOptions> = {},
  rateLimit: typeof rateLimit8 = rateLimit8,
) {
  const own = terms.policies === undefined ? { ...TERMS, ...terms } : terms
  const limiter = createLimiter({ ...own, store, prefix: `erl-${++prefixes}` } as LimiterOptions)
  const app = express()
  const counted = sluiceStore(limiter)
  const validate = { default: true, creationStack: false } as const
  app.use(rateLimit({ limit: 5, windowMs: 60_000, store: counted, validate, ...options }))
  app.get('/', (_, response) => void response.send('served'))
  app.get('/broken', (_, response) => void response.status(500).send('broken'))
  const server = app.listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = async (path = '/') => {
    const response = await fetch(url + path)
    await response.text()
    return response
  }
  const statuses = async (times: number, path?: string) => {
    const all = []
    for (let i = 0; i < times; i += 1) all.push((await send(path)).status)
    return all
  }
  return { limiter, counted, send, statuses }
}

describe.each([
  [8, rateLimit8],
  [7, rateLimit7 as unknown as typeof rateLimit8],
])('express-rate-limit %d', (_, rateLimit) => {
  test.each([
    ['memory', () => memoryStore({ clock })],
    ['Redis', () => redis.client],
  ])('of 60 at once it admits the limit of 30: %s', async (_, storeOf) => {
    const terms = { ...patient, store: storeOf(), limit: 30 } as Partial<LimiterOptions>
    const { send } = await start({ limit: 30 }, terms, rateLimit)
    const all = await Promise.all(Array.from({ length: 60 }, () => send()))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(30)
    expect(all.filter(({ status }) => status === 429)).toHaveLength(30)
    expect(warned).toEqual([])
  })

  test('its fields say what remains, and when to come back', async () => {
    const { send } = await start({ standardHeaders: 'draft-6' }, {}, rateLimit)
    const { headers } = await send()
    expect(headers.get('ratelimit-limit')).toBe('5')
    expect(headers.get('ratelimit-remaining')).toBe('4')
    for (let i = 0; i < 4; i += 1) await send()
    const refused = await send()
    expect(refused.headers.get('ratelimit-remaining')).toBe('0')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('what it skips counts no more', async () => {
    const { statuses, limiter } = await start({ skipSuccessfulRequests: true }, {}, rateLimit)
    expect(await statuses(7)).toEqual(Array(7).fill(200))
    expect(await statuses(6, '/broken')).toEqual([...Array(5).fill(500), 429])
    expect((await limiter.peek('127.0.0.1')).allowed).toBe(false)
  })

  test('nobody gets a quota back by being refused', async () => {
    const { statuses } = await start({ skipFailedRequests: true }, {}, rateLimit)
    expect(await statuses(5)).toEqual(Array(5).fill(200))
    expect(await statuses(20)).toEqual(Array(20).fill(429))
  })
})

test.each(['skipFailedRequests', 'skipSuccessfulRequests'])(
  'a bucket beside %s is an error: refused requests would be owed for long',
  async (option) => {
    const silent = { logger: { error() {}, warn() {}, info() {}, debug() {} } } as Partial<Options>
    const { counted, send } = await start(
      { ...silent, [option]: true },
      { algorithm: 'token-bucket' },
    )
    expect(() => counted.init({ [option]: true })).toThrow("algorithm: 'sliding-window'")
    expect((await send()).status).toBe(500)
  },
)

test('a bucket counts where nothing is skipped', async () => {
  const { statuses } = await start({}, { algorithm: 'token-bucket' })
  expect(await statuses(6)).toEqual([...Array(5).fill(200), 429])
})

test('a dry run refuses nobody', async () => {
  const { counted, statuses } = await start(
    {},
    { policies: [{ name: 'trial', ...TERMS, dryRun: true }] },
  )
  expect(await statuses(8)).toEqual(Array(8).fill(200))
  expect(await counted.get('127.0.0.1')).toMatchObject({ totalHits: 0 })
})

test('a refused client may come back when one request fits, not when all do', async () => {
  const { counted } = await start({}, { algorithm: 'sliding-log' })
  const resetMs = async () => {
    const asked = Date.now()
    const { resetTime } = await counted.increment('client')
    return Math.round(((resetTime as Date).getTime() - asked) / 10_000) * 10_000
  }
  expect(await resetMs()).toBe(60_000)
  clock.advance(40_000)
  for (let i = 0; i < 4; i += 1) expect(await resetMs()).toBe(60_000)
  expect(await resetMs()).toBe(20_000)
})

test('a key can be read and reset', async () => {
  const { counted, statuses } = await start({})
  await statuses(6)
  expect(await counted.get('127.0.0.1')).toMatchObject({ totalHits: 5 })
  await counted.resetKey('127.0.0.1')
  expect(await statuses(6)).toEqual([...Array(5).fill(200), 429])
})

test('another limit of the middleware has no effect, which it says once', async () => {
  const { statuses } = await start({ limit: 2 })
  expect(await statuses(6)).toEqual([...Array(5).fill(200), 429])
  expect(warned).toEqual(['SLUICE_OTHER_LIMIT'])
})

test('a limit that is a function never refuses what the limiter admits', async () => {
  const { statuses } = await start({ limit: async () => 1000 })
  expect(await statuses(6)).toEqual([...Array(5).fill(200), 429])
})

test('a store that fails does what the limiter says, and ends no process', async () => {
  const failing = failingStore({ clock })
  const terms = { store: failing, onStoreError: 'allow' } as unknown as Partial<LimiterOptions>
  const { counted, statuses } = await start({ skipSuccessfulRequests: true }, terms)
  failing.fail()
  expect(await statuses(6)).toEqual(Array(6).fill(200))
  // The middleware of version 7 would not catch it.
  await counted.decrement('127.0.0.1')
  expect(warned).toContain('SLUICE_SETTLE')
})

test.each([undefined, {}, () => {}])('%p is no limiter', (given) => {
  const error = { code: 'SLUICE_OPTION_TYPE', option: 'limiter.consume' }
  expect(() => sluiceStore(given as never)).toThrow(expect.objectContaining(error) as never)
})
