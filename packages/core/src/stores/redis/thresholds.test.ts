// The thresholds of alertAt: what crosses one is the same on every store, and one event among several processes.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { runInProcesses } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { mapStore } from '@sluice/transactional/testing'
import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import { ALGORITHM_NAMES, algorithms } from '../../algorithms/index.ts'
import { reserved } from '../../algorithms/reserved/reserved.ts'
import {
  createLimiter,
  type Limiter,
  type LimiterOptions,
  memoryStore,
  redisStore,
  type Store,
  type ThresholdEvent,
} from '../../index.ts'
import { type ManualClock, manualClock, withVerbs } from '../../testing/index.ts'
import type { Charge, ChargeIncrease } from '../store.ts'
import type { AlertingWork } from './testing/workers/alerting.ts'

const redis = useRedis()
const worker = new URL(`file://${__dirname}/testing/workers/alerting.ts`)

const RESERVING = ['fixed-window', 'sliding-window', 'token-bucket'] as const

/** Random integers from 0 to below `most`, the same each time. */
function numbers(): (most: number) => number {
  let random = 1
  return (most) => {
    random = (random * 48_271) % 2_147_483_647
    return random % most
  }
}

/** The events of a sequence of charges and corrections, the same each time. */
async function eventsOn(store: Store, clock: ManualClock, options: object) {
  const events: ThresholdEvent[] = []
  const onThreshold = (event: ThresholdEvent) => void events.push(event)
  const given = { ...patient, refusalCache: false, ...options, store, onThreshold }
  const limiter: Limiter = createLimiter(given as unknown as LimiterOptions)
  const next = numbers()
  for (let i = 0; i < 300; i += 1) {
    clock.advance([0, 0, 30, 400, 90][next(5)] as number)
    const key = `client ${next(2)}`
    const what = next(10)
    if (what < 6) await limiter.consume(key, { cost: next(4) })
    else if (what < 8) await limiter.settle(key, next(9) - 4)
    else if (what < 9) await limiter.settle(key, next(4), { at: clock() - next(1500) })
    else if (next(12) === 0) await limiter.block(key, 500)
  }
  limiter.close()
  return events
}

describe.each(ALGORITHM_NAMES)('%s', (algorithm) => {
  test('has the same events in memory, on Redis and in transactions', async () => {
    const options = {
      prefix: `parity-${algorithm}`,
      policies: [
        { name: 'one', algorithm, limit: 15, window: '1s', alertAt: [0.2, 0.8, 1] },
        { name: 'two', algorithm, limit: 40, window: '3s', alertAt: [0.5] },
        { name: 'three', algorithm: 'sliding-log', limit: 60, window: '10s', alertAt: [0.1, 0.5] },
      ],
    }
    const of = (create: (clock: ManualClock) => Store) => {
      const clock = manualClock()
      return eventsOn(create(clock), clock, options)
    }
    const expected = await of((clock) => memoryStore({ clock }))
    expect(expected.length).toBeGreaterThan(20)
    expect(new Set(expected.map(({ policy }) => policy)).size).toBeGreaterThan(1)
    expect(await of((clock) => redisStore(redis.client, { clock }))).toEqual(expected)
    expect(await of(mapStore)).toEqual(expected)
  })
})

/** What decisions and settlements of a sequence say, the same each time: of reservations, blocks and own limits. */
async function settlementsOn(store: Store, clock: ManualClock) {
  const said: unknown[] = []
  const params = { limit: 20, windowMs: 2000, holdMs: 900 }
  const limits = [
    ...RESERVING.map((name) => reserved(algorithms[name]).compile(params)),
    algorithms['sliding-log'].compile(params),
  ]
  const policies = limits.map(({ algorithm }, i) => ({ name: `policy ${i}`, algorithm }))
  const ledger = withVerbs(store.open(policies, 'settled'))
  const onIncrease = (increase: ChargeIncrease) => void said.push(increase)
  const open: { readonly at: number; readonly charges: readonly Charge[] }[] = []
  const next = numbers()
  for (let i = 1; i <= 400; i += 1) {
    clock.advance([0, 0, 30, 400, 90, 1500][next(6)] as number)
    const charges = limits.map((limit): Charge => {
      const claim = limit.algorithm.reserves ? [i] : undefined
      return { key: `client ${next(2)}`, limit, cost: 1 + next(3), claim }
    })
    const [{ key }] = charges as [Charge]
    const what = next(12)
    const [settled] = what < 9 ? [] : open.splice(next(open.length), 1)
    if (what < 6) {
      const { admitted, at, outcomes } = await ledger.consume(charges)
      said.push(outcomes.map(({ remaining }) => remaining))
      if (admitted) open.push({ at, charges })
    } else if (what < 7) {
      const corrections = charges.map((charge) => ({ ...charge, claim: undefined }))
      await ledger.settle(corrections, clock() - next(3000), 'store', onIncrease)
    } else if (what < 8) await ledger.block(key, 300)
    else if (what < 9) {
      const override = { limit: 30, until: clock() + 700, burst: undefined, maxDelayMs: undefined }
      await ledger.override(next(3), key, limits[0] as CompiledLimit, override)
    } else if (settled !== undefined) {
      const corrections = settled.charges.map((charge) => {
        const { cost, claim } = charge
        return { ...charge, cost: next(7) - cost, claim: claim && [...claim, 0, cost] }
      })
      await ledger.settle(corrections, settled.at, 'store', onIncrease)
    }
  }
  store.close()
  return said
}

test('memory, Redis and transactions report the same increases by settlements', async () => {
  const of = (create: (clock: ManualClock) => Store) => {
    const clock = manualClock()
    return settlementsOn(create(clock), clock)
  }
  const expected = await of((clock) => memoryStore({ clock }))
  const places = expected.flatMap((each) => (each as Partial<ChargeIncrease>).place ?? [])
  for (const place of [0, 1, 2, 3])
    expect(places.filter((each) => each === place).length).toBeGreaterThan(20)
  expect(await of((clock) => redisStore(redis.client, { clock }))).toEqual(expected)
  expect(await of(mapStore)).toEqual(expected)
})

describe('several processes', () => {
  /** The lines that they have written, sorted. */
  async function alerts(count: number, work: Omit<AlertingWork, 'url' | 'file'>) {
    const file = join(mkdtempSync(join(tmpdir(), 'sluice-alerts-')), 'events')
    writeFileSync(file, '')
    const { port } = redis.client.options
    const url = `redis://127.0.0.1:${port}`
    const failure = await runInProcesses(worker, count, { ...work, url, file }).catch(
      (error) => error,
    )
    const events = readFileSync(file, 'utf8').split('\n').filter(Boolean).sort()
    return { events, failure: failure instanceof Error ? failure : undefined }
  }

  test('that charge and settle 60 at once cross each threshold once, with each algorithm', async () => {
    // Now is the middle of such a window: none ends during the test, and nothing that counts drains.
    const window = Math.floor(Date.now() / 6.5)
    const limiters = ALGORITHM_NAMES.map((algorithm) => {
      const queue = algorithm === 'leaky-bucket' ? { maxDelay: Math.ceil(0.99 * window) } : {}
      const count = { limit: 55, window, algorithm, prefix: `race-${algorithm}`, ...queue }
      return { ...count, name: algorithm, alertAt: [0.2, 0.5, 0.9] } as LimiterOptions
    })
    const { events, failure } = await alerts(3, { limiters, times: 10, settlements: 10 })
    expect(failure).toBeUndefined()
    const expected = ALGORITHM_NAMES.flatMap((name) =>
      [0.2, 0.5, 0.9].map((each) => `${name} ${each}`),
    )
    expect(events).toEqual(expected.sort())
  })

  test('of which one dies between the charge and the event: at most one event, the charge stays', async () => {
    const options = { limit: 10, window: '1d', algorithm: 'fixed-window', prefix: 'dying' } as const
    const limiter: LimiterOptions = { ...options, alertAt: [0.8, 1] }
    const { events, failure } = await alerts(1, { limiters: [limiter], times: 8, diesWith: 8 })
    expect(failure?.message).toMatch('ended')
    expect(events).toEqual([])
    const heard: number[] = []
    const onThreshold = ({ threshold }: ThresholdEvent) => void heard.push(threshold)
    const another = createLimiter({ ...patient, ...limiter, store: redis.client, onThreshold })
    expect((await another.peek('ada')).remaining).toBe(2)
    for (let i = 0; i < 5; i += 1) await another.consume('ada')
    expect(heard).toEqual([1])
    another.close()
  })
})

test('a settlement asks Redis for states only if a policy has alertAt and somebody listens', async () => {
  const replies: unknown[] = []
  const { client } = redis
  const spied = new Proxy(client, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...all: unknown[]) => {
        const reply = Reflect.apply(value, target, all)
        if (/evalsha|^eval/i.test(String(name))) replies.push(reply)
        return reply
      }
    },
  })
  const options = {
    ...patient,
    limit: 10,
    window: '1d',
    store: spied as typeof client,
  } as const
  const onThreshold = () => {}
  const settled = async (given: object) => {
    const limiter = createLimiter({ ...options, ...given })
    replies.length = 0
    await limiter.settle('ada', 1)
    limiter.close()
    const all = await Promise.all(replies.map((reply) => Promise.resolve(reply).catch(() => null)))
    return all.filter((reply) => reply instanceof Uint8Array).length
  }
  expect(await settled({ prefix: 'none', onThreshold })).toBe(0)
  expect(await settled({ prefix: 'unheard', alertAt: [0.8] })).toBe(0)
  expect(await settled({ prefix: 'heard', alertAt: [0.8], onThreshold })).toBe(1)
})
