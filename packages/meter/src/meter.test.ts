import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { createLimiter, type LimiterOptions, memoryStore } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import { RoutedLimiter } from '@sluice/http/adapter'
import { useRedis } from '@sluice/test-harness/jest'
import { until } from '@sluice/test-harness/redis'
import { plain } from '../../http/src/testing/plain-server.ts'
import {
  type ChargeListener,
  type Meter,
  type MeterOptions,
  type MeterRecord,
  meter,
} from './index.ts'

const redis = useRedis()
const NOW = Date.UTC(2026, 0, 10)
const FEBRUARY = Date.UTC(2026, 1, 1)

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A receiver that counts every identifier once, and fails when it is asked to. */
function startReceiver() {
  const known = new Map<string, MeterRecord>()
  const receiver = {
    calls: [] as (readonly MeterRecord[])[],
    fails: 'never' as 'never' | 'before' | 'after' | 'to answer',
    async send(batch: readonly MeterRecord[]) {
      receiver.calls.push(batch.map((each) => ({ ...each })))
      if (receiver.fails === 'before') throw new Error('down')
      if (receiver.fails === 'to answer') await new Promise(() => {})
      for (const each of batch) known.set(each.id, each)
      if (receiver.fails === 'after') throw new Error('reply lost')
    },
    sums(): Record<string, number> {
      const sums: Record<string, number> = {}
      for (const { key, policy, units } of known.values())
        sums[`${key} ${policy}`] = (sums[`${key} ${policy}`] ?? 0) + units
      return sums
    },
  }
  return receiver
}

function limiterOf(kind: string, options: object = {}) {
  const clock = manualClock(NOW)
  const store = kind === 'Redis' ? redis.client : memoryStore({ clock })
  const limiter = createLimiter({
    store,
    limit: 100,
    window: 'month',
    ...options,
  } as LimiterOptions)
  ends.push(() => limiter.close())
  return { limiter, clock }
}

function metered(
  limiter: object,
  options: Partial<MeterOptions> = {},
): {
  meter: Meter
  receiver: ReturnType<typeof startReceiver>
} {
  const receiver = startReceiver()
  const made = meter(limiter, { every: '1d', send: receiver.send, ...options })
  ends.push(() => made.close().catch(() => {}))
  return { meter: made, receiver }
}

describe.each(['memory', 'Redis'])('a meter of a limiter in %s', (kind) => {
  test('sends what was charged and settled, not what was refused', async () => {
    const { limiter } = limiterOf(kind)
    const { meter: each, receiver } = metered(limiter)
    await limiter.consume('ada', { cost: 60 })
    await limiter.consume('ada', { cost: 60 })
    await limiter.settle('ada', -10)
    await limiter.consume('ben')
    await limiter.peek('ben')
    await each.flush()
    expect(receiver.sums()).toEqual({ 'ada default': 50, 'ben default': 1 })
    await each.flush()
    expect(receiver.calls).toHaveLength(1)
    await limiter.settle('ada', -20)
    await each.flush()
    expect(receiver.sums()).toEqual({ 'ada default': 30, 'ben default': 1 })
    const counted = []
    for await (const { key, units } of each.counts()) counted.push([key, units])
    expect(counted.sort()).toEqual([
      ['ada', 30],
      ['ben', 1],
    ])
  })

  test('a reservation is sent when it is settled, or released', async () => {
    const { limiter } = limiterOf(kind, { reserve: true, hold: '10s' })
    const { meter: each, receiver } = metered(limiter)
    const calls = [
      await limiter.acquire('ada', { cost: 30 }),
      await limiter.acquire('ada', { cost: 20 }),
    ]
    await each.flush()
    expect(receiver.sums()).toEqual({})
    await calls[0]?.settle(12)
    await calls[1]?.release()
    await each.flush()
    expect(receiver.sums()).toEqual({ 'ada default': 32 })
  })

  test('slots are not sent, other policies of theirs are', async () => {
    const policies = [
      { name: 'slots', concurrent: 3 },
      { name: 'month', limit: 9, window: 'month' },
    ]
    const { limiter } = limiterOf(kind, { limit: undefined, window: undefined, policies })
    const { meter: each, receiver } = metered(limiter)
    const slot = await limiter.acquire('ada')
    await slot.release()
    await each.flush()
    expect(receiver.sums()).toEqual({ 'ada month': 1 })
  })
})

describe('identifiers', () => {
  test.each(['before', 'after'] as const)(
    'a receiver that fails %s it has taken a batch counts all once',
    async (fails) => {
      const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
      const { limiter } = limiterOf('memory')
      const { meter: each, receiver } = metered(limiter, { maxBatch: 2 })
      for (const key of ['a', 'b', 'c']) limiter.consume(key)
      receiver.fails = fails
      await expect(each.flush()).rejects.toThrow()
      limiter.consume('a')
      await expect(each.flush()).rejects.toThrow()
      receiver.fails = 'never'
      await each.flush()
      expect(receiver.sums()).toEqual({ 'a default': 2, 'b default': 1, 'c default': 1 })
      expect(receiver.calls[1]).toEqual(receiver.calls[0])
      expect(receiver.calls.map(({ length }) => length)).toEqual([2, 2, 2, 1, 1])
      emitted.mockRestore()
    },
  )

  test('no two records have the same, of several meters neither', async () => {
    const all = [0, 1].map(() => {
      const { limiter } = limiterOf('memory')
      const each = metered(limiter)
      for (let i = 0; i < 300; i += 1) limiter.consume(`key-${i}`)
      return each
    })
    await Promise.all(all.map((each) => each.meter.flush()))
    const ids = all.flatMap(({ receiver }) => receiver.calls.flat().map(({ id }) => id))
    expect(new Set(ids).size).toBe(600)
  })
})

describe('windows', () => {
  test('what was charged before a month ends, and after it, are different records', async () => {
    const { limiter, clock } = limiterOf('memory')
    const { meter: each, receiver } = metered(limiter)
    const { at } = await limiter.consume('ada', { cost: 5 })
    clock.advance(1000)
    const { at: latest } = await limiter.consume('ada', { cost: 20 })
    clock.set(FEBRUARY + 1000)
    limiter.consume('ada', { cost: 7 })
    limiter.settle('ada', -4, { at })
    await each.flush()
    const sent = receiver.calls.flat().map((each) => [each.units, each.windowEndsAt, each.at])
    expect(sent).toEqual([
      [21, FEBRUARY, latest],
      [7, Date.UTC(2026, 2, 1), FEBRUARY + 1000],
    ])
  })
})

test('it sends by itself, and what is left when it is closed', async () => {
  const { limiter } = limiterOf('memory')
  const { meter: each, receiver } = metered(limiter, { every: '10ms' })
  limiter.consume('ada')
  await until(() => receiver.calls.length === 1, { what: 'it has sent' })
  limiter.consume('ada')
  await each.close()
  limiter.consume('ada')
  expect(receiver.sums()).toEqual({ 'ada default': 2 })
})

test('a receiver that does not answer, and then is down for long: one warning, and all of it later', async () => {
  const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const { limiter } = limiterOf('memory')
  const { receiver } = metered(limiter, { every: '10ms', timeout: '20ms' })
  receiver.fails = 'to answer'
  limiter.consume('ada')
  await until(() => receiver.calls.length > 1, { what: 'it has tried again' })
  expect(emitted.mock.calls[0]?.[0]).toContain('has not settled within 20 ms. It is called again')
  receiver.fails = 'before'
  const tried = receiver.calls.length
  await until(() => receiver.calls.length > tried + 3, { what: 'it has tried' })
  receiver.fails = 'never'
  await until(() => receiver.sums()['ada default'] === 1, { what: 'it has sent' })
  expect(emitted).toHaveBeenCalledTimes(1)
  emitted.mockRestore()
})

test('a send that never settles is given up, also by close(), and made again with the same batch', async () => {
  const { limiter } = limiterOf('memory')
  const ids: unknown[] = []
  let hangs = true
  const send = (batch: readonly MeterRecord[]) => {
    ids.push(batch[0]?.id)
    return hangs ? new Promise(() => {}) : undefined
  }
  const { meter: each } = metered(limiter, { every: '10ms', timeout: '20ms', send })
  limiter.consume('ada')
  await until(() => ids.length > 2, { what: 'it has tried again' })
  await expect(each.close()).rejects.toThrow('has not settled within 20 ms')
  hangs = false
  await each.close()
  expect(new Set(ids).size).toBe(1)
})

test('a send that settles leaves no timer behind', async () => {
  const cleared = jest.spyOn(globalThis, 'clearTimeout')
  const { limiter } = limiterOf('memory')
  const { meter: each } = metered(limiter)
  limiter.consume('ada')
  await each.flush()
  expect(cleared).toHaveBeenCalledTimes(1)
  cleared.mockRestore()
})

test.each<[string, object]>([
  ['no send', { every: '1m' }],
  ['no time', { send: () => {} }],
  ['less than 10 ms', { every: '1ms', send: () => {} }],
  ['no time for send', { every: '1m', send: () => {}, timeout: 0 }],
  ['another option', { every: '1m', send: () => {}, sent: 1 }],
])('%s is an error', (_, options) => {
  expect(() => meter(limiterOf('memory').limiter, options as never)).toThrow(/SLUICE_OPTION/)
})

test('two meters of one limiter, and something else than a limiter, are errors', async () => {
  const { limiter } = limiterOf('memory')
  const { meter: first } = metered(limiter)
  expect(() => metered(limiter)).toThrow('one meter of a limiter')
  expect(() => metered({})).toThrow('SLUICE_OPTION_TYPE')
  await first.close()
  metered(limiter)
})

test('while a batch is being sent and fails, close() sends it again', async () => {
  const { limiter } = limiterOf('memory')
  const calls: unknown[] = []
  const send = async (batch: unknown) => {
    calls.push(batch)
    if (calls.length === 1) throw new Error('down')
  }
  const { meter: each } = metered(limiter, { send })
  limiter.consume('ada')
  const flushed = each.flush()
  await each.close()
  await expect(flushed).rejects.toThrow('down')
  expect(calls).toHaveLength(2)
})

/** A receiver that answers for all batches when it is asked to. */
function heldReceiver() {
  const sent: (number | undefined)[] = []
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const send = ([record]: readonly MeterRecord[]) => {
    sent.push(record?.units)
    return answered
  }
  return { sent, send, answer, answered }
}

test('flush() sends also what was charged while a batch was being sent', async () => {
  const { limiter } = limiterOf('memory')
  const { sent, send, answer } = heldReceiver()
  const { meter: each } = metered(limiter, { send })
  limiter.consume('ada')
  const first = each.flush()
  limiter.consume('ada', { cost: 2 })
  const second = each.flush()
  answer()
  await Promise.all([first, second])
  expect(sent).toEqual([1, 2])
})

test('flush() sends also what was charged in the moment in which the last batch has gone', async () => {
  const { limiter } = limiterOf('memory')
  const { sent, send, answer, answered } = heldReceiver()
  const { meter: each } = metered(limiter, { send })
  limiter.consume('ada')
  each.flush()
  await until(() => sent.length === 1, { what: 'it is being sent' })
  const second = answered.then(() => {
    limiter.consume('ada', { cost: 2 })
    return each.flush()
  })
  answer()
  await second
  expect(sent).toEqual([1, 2])
})

test('a meter that is closed once more leaves the next one alone, and keeps what it could not send', async () => {
  const { limiter } = limiterOf('memory')
  const { meter: first, receiver } = metered(limiter)
  limiter.consume('ada')
  receiver.fails = 'before'
  await expect(first.close()).rejects.toThrow('down')
  limiter.consume('ada')
  const next = metered(limiter)
  limiter.consume('ada', { cost: 10 })
  receiver.fails = 'never'
  await first.close()
  limiter.consume('ada', { cost: 20 })
  expect(() => metered(limiter)).toThrow('one meter of a limiter')
  await next.meter.flush()
  expect([receiver.sums(), next.receiver.sums()]).toEqual([
    { 'ada default': 1 },
    { 'ada default': 30 },
  ])
})

test('with 100,000 records a batch begins at once: they grow no more', async () => {
  let charged: ChargeListener = () => {}
  // A limiter would take seconds for so many requests.
  const limiter = { observe: (listener: ChargeListener = () => {}) => (charged = listener) }
  const { meter: each, receiver } = metered(limiter, { maxBatch: 10_000 })
  const policy = { name: 'default', unit: 'requests' }
  const charge = (...keys: string[]) => {
    const limit = { params: { windowMs: 1000 } }
    const charges = keys.map((key) => ({ key, limit, cost: 1 }))
    charged(
      keys.map(() => policy) as never,
      charges as never,
      keys.map(() => ({ at: NOW })),
      false,
    )
  }
  charge(...Array.from({ length: 99_999 }, (_, i) => `k${i}`), 'k0')
  charge('last', 'k0')
  await each.flush()
  expect(receiver.calls.map(({ length }) => length)).toEqual([...Array(10).fill(10_000), 1])
  expect(receiver.sums()).toMatchObject({ 'k0 default': 3, 'last default': 1 })
})

test('counts() has what the limiter has counted, not others of its prefix with the same policy name', async () => {
  const store = memoryStore({ clock: manualClock(NOW) })
  const limiterIn = (options: object) => {
    const made = createLimiter({ store, limit: 1000, ...options } as never)
    ends.push(() => made.close())
    return made
  }
  const { meter: each } = metered(limiterIn({ window: 'month' }))
  await limiterIn({ window: '1d', algorithm: 'fixed-window' }).consume('ada', { cost: 100 })
  await limiterIn({ window: 'month', prefix: 'other' }).consume('ada', { cost: 100 })
  // Another process of the same application.
  await limiterIn({ window: 'month', prefix: 'sluice' }).consume('ada', { cost: 10 })
  const counts: unknown[] = []
  for await (const count of each.counts()) counts.push(count)
  expect(counts).toEqual([{ key: 'ada', policy: 'default', units: 10, windowEndsAt: FEBRUARY }])
})

test('a route that counts apart has its name in records and counts', async () => {
  const store = memoryStore({ clock: manualClock(NOW) })
  const limiter = new RoutedLimiter(
    {
      store,
      limit: 1000,
      window: 'month',
      routes: { 'POST /login': { limit: 100, window: 'month' } },
    } as never,
    plain as never,
  )
  ends.push(() => limiter.limiter.close())
  const { meter: each, receiver } = metered(limiter.limiter)
  for (const [i, httpLimiter] of [...limiter.httpLimiters].entries())
    httpLimiter.limiter.consume('203.0.113.7', { cost: 3 + i })
  await each.flush()
  const found = { key: '203.0.113.7', policy: 'default', windowEndsAt: FEBRUARY }
  const expected = [
    { ...found, units: 3 },
    { ...found, units: 4, route: 'POST /login' },
  ]
  expect(receiver.calls).toMatchObject([expected])
  expect(receiver.calls[0]?.[0]).not.toHaveProperty('route')
  const counts: unknown[] = []
  for await (const count of each.counts()) counts.push(count)
  expect(counts).toHaveLength(2)
  expect(counts).toEqual(expect.arrayContaining(expected))
})
