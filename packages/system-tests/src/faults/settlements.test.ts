// A store that is late, or loses a reply, makes each settlement of a budget once.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { type BudgetOptions, createBudget } from '@sluice/budget'
import type { SettleEvent } from '@sluice/core'
import { postgresStore } from '@sluice/postgres'
import { describeUnless } from '@sluice/test-harness/jest'
import { startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { type RedisProxy, startProxy, startRedis, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { createClient } from 'redis'

const DEADLINE_MS = 300
/** Longer than the deadline and the first repetition. */
const STALL_MS = 2500
/** How long a busy machine may take. */
const WITHIN_MS = 20_000

interface Rig {
  readonly proxy: RedisProxy
  readonly store: BudgetOptions['store']
  pause(): void
  resume(): void
}

const ends: (() => unknown)[] = []
let confirmed = 0
const count = (event: unknown) => {
  if ((event as SettleEvent).errorType === undefined) confirmed += 1
}
beforeEach(() => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  confirmed = 0
  subscribe('sluice:settle', count)
})
afterEach(async () => {
  unsubscribe('sluice:settle', count)
  for (const end of ends.splice(0).reverse()) await end()
  jest.restoreAllMocks()
})

async function redisRig(connect: (url: string) => Promise<[store: unknown, close: () => unknown]>) {
  const server = await startRedis()
  ends.push(() => server.stop())
  const proxy = await startProxy(server)
  ends.push(() => proxy.stop())
  const [store, close] = await connect(proxy.url)
  ends.push(close)
  return {
    proxy,
    store: store as BudgetOptions['store'],
    pause: () => server.pause(),
    resume: () => server.resume(),
  }
}

async function ofIoRedis(url: string, options = {}): Promise<[unknown, () => unknown]> {
  const client = new Redis(url, { disconnectTimeout: 0, retryStrategy: () => 20, ...options })
  client.on('error', () => {})
  return [client, () => client.disconnect()]
}

async function ofNodeRedis(url: string): Promise<[unknown, () => unknown]> {
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  return [client, () => client.destroy()]
}

async function postgresRig(): Promise<Rig> {
  const server = await startPostgres()
  ends.push(() => server.stop())
  const proxy = await startProxy(server)
  ends.push(() => proxy.stop())
  const url = new URL(server.url)
  url.port = `${proxy.port}`
  const pool = new Pool({ connectionString: url.href })
  pool.on('error', () => {})
  ends.push(() => pool.end())
  const store = postgresStore(pool)
  await store.migrate()
  return { proxy, store, pause: () => server.pause(), resume: () => server.resume() }
}

const RIGS: Record<string, () => Promise<Rig>> = {
  ioredis: () => redisRig(ofIoRedis),
  'ioredis with maxRetriesPerRequest: 0': () =>
    redisRig((url) => ofIoRedis(url, { maxRetriesPerRequest: 0 })),
  'node-redis': () => redisRig(ofNodeRedis),
}

const who = { user: 'ada', organisation: 'acme' }

/** A hundred tokens, of which others have spent 70; ten streams of at most 3 have the others. */
async function streams(rig: Rig, lost: 'charged' | 'returned') {
  const budget = createBudget({
    store: rig.store,
    unit: 'usd',
    window: 'month',
    levels: { user: 100, organisation: 100 },
    price: ({ output }) => output,
    deadline: `${DEADLINE_MS}ms`,
    lost,
  })
  ends.push(() => budget.close())
  const others = await budget.reserve({ ...who, user: 'others' }, { model: 'm', output: 70 })
  await others.settle({ model: 'm', output: 70 })
  const calls = await Promise.all(
    Array.from({ length: 10 }, () => budget.reserve(who, { model: 'm', output: 3 })),
  )
  expect(calls.map(({ allowed }) => allowed)).toEqual(Array(10).fill(true))
  const used = async () => {
    const read = async () => {
      const { levels } = await budget.usage(who)
      return levels.length > 0 ? levels.map(({ used }) => used) : undefined
    }
    return until(read, { what: 'the store answers', withinMs: WITHIN_MS })
  }
  expect(await used()).toEqual([30, 100])
  confirmed = 0
  return { budget, calls, used }
}

async function areConfirmed(count: number) {
  await until(() => confirmed >= count, {
    what: `${count} settlements are confirmed, not ${confirmed}`,
    withinMs: WITHIN_MS,
  })
}

function tests(open: () => Promise<Rig>) {
  describe.each(['charged', 'returned'] as const)('lost: %j', (lost) => {
    test(
      'a store that stalls',
      async () => {
        const rig = await open()
        const { budget, calls, used } = await streams(rig, lost)
        rig.pause()
        const settled = calls.map((call) => call.settle({ model: 'm', output: 0.5 }))
        const billed = budget.settle(
          { user: null, organisation: 'acme' },
          { model: 'm', output: 7 },
        )
        await new Promise((resolve) => setTimeout(resolve, STALL_MS))
        rig.resume()
        await Promise.all([...settled, billed])
        await areConfirmed(11)
        expect(await used()).toEqual([5, 82])
      },
      2 * WITHIN_MS,
    )

    test(
      'a reply that is lost with its connection',
      async () => {
        const rig = await open()
        const { calls, used } = await streams(rig, lost)
        const { replyChunks } = rig.proxy.counts
        rig.proxy.loseReplies()
        const settled = calls.map((call) => call.settle({ model: 'm', output: 0.5 }))
        await until(() => rig.proxy.counts.replyChunks > replyChunks, {
          what: 'the store has replied',
        })
        rig.proxy.loseReplies(false)
        rig.proxy.cut()
        await Promise.all(settled)
        await areConfirmed(10)
        expect(await used()).toEqual([5, 75])
      },
      2 * WITHIN_MS,
    )
  })
}

describe.each(Object.entries(RIGS))('%s', (_, open) => tests(open))

describeUnless(whyNoPostgres(), 'PostgreSQL', () => tests(postgresRig))
