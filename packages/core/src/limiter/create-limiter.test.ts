import { afterEach, describe, expect, it, jest, test } from '@jest/globals'
import type { RateLimitConfig } from '@sluice/http'
import { RoutedLimiter } from '@sluice/http/adapter'
import { plain } from '../../../http/src/testing/plain-server.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'
import { failingStore } from '../testing/failing-store.ts'
import { manualClock } from '../testing/manual-clock.ts'
import { createLimiter } from './create-limiter.ts'
import type { Limiter } from './limiter.ts'
import type { LimiterOptions } from './limiter-options.generated.ts'

/** A minute begins. */
const START = 1_800_000_000_000

const closing: { close(): void }[] = []
afterEach(() => {
  for (const each of closing.splice(0)) each.close()
  jest.useRealTimers()
})

function world(options: Omit<LimiterOptions<'sync'>, 'store' | 'prefix'>) {
  const clock = manualClock(START)
  const store = memoryStore({ clock })
  closing.push(store)
  return { clock, store, limiter: createLimiter({ ...options, store } as LimiterOptions<'sync'>) }
}

describe('consume()', () => {
  it('answers synchronously with the memory store', () => {
    const { limiter } = world({ limit: 2, window: '1m', algorithm: 'fixed-window' })
    const base = { limit: 2, resetMs: 60_000, delayMs: 0 }
    const one = { ...base, allowed: true, remaining: 1, retryAfterMs: 0 }
    const by = { source: 'store', at: START }
    const promise = { name: 'default', unit: 'requests', windowMs: 60_000 }
    const policy = { ...promise, key: 'client', effectiveMs: 60_000, ...by }
    expect(limiter.consume('client')).toEqual({
      ...one,
      source: 'store',
      at: START,
      policies: [{ ...one, ...policy }],
    })
    limiter.consume('client')
    const refused = { ...base, allowed: false, remaining: 0, retryAfterMs: 60_000 }
    expect(limiter.consume('client')).toEqual({
      ...refused,
      source: 'store',
      at: START,
      policies: [{ ...refused, ...policy }],
    })
  })

  it('returns decisions that later calls do not change', () => {
    const { clock, limiter } = world({ limit: 2, window: '1m' })
    const first = limiter.consume('client')
    const kept = structuredClone(first)
    clock.advance(10)
    limiter.consume('client')
    limiter.consume('client')
    expect(first).toEqual(kept)
  })
})

describe('several policies', () => {
  it('show the one that binds: admitted, the one with the least left', () => {
    const { limiter } = world({
      policies: [
        { name: 'wide', limit: 100, window: '1s', algorithm: 'fixed-window' },
        { name: 'narrow', limit: 5, window: '1m', algorithm: 'fixed-window' },
        { name: 'long', limit: 5, window: '1h', algorithm: 'fixed-window' },
      ],
    })
    // Of two with the same number left, the one that is full again later.
    expect(limiter.consume('client')).toMatchObject({ limit: 5, remaining: 4, resetMs: 3_600_000 })
  })

  it('show the one that binds: refused, the one with the longest wait', () => {
    const { limiter } = world({
      policies: [
        { name: 'second', limit: 1, window: '1s', algorithm: 'fixed-window' },
        { name: 'minute', limit: 1, window: '1m', algorithm: 'fixed-window' },
        { name: 'free', limit: 100, window: '1h', algorithm: 'fixed-window' },
      ],
    })
    limiter.consume('client')
    const { limit, retryAfterMs, resetMs, policies } = limiter.consume('client')
    expect({ limit, retryAfterMs, resetMs }).toEqual({
      limit: 1,
      retryAfterMs: 60_000,
      resetMs: 60_000,
    })
    expect(policies.map((each) => each.retryAfterMs)).toEqual([1000, 60_000, 0])
  })

  it('wait for the slowest queue, and not at all if refused', () => {
    const { limiter } = world({
      policies: [
        { name: 'fast', limit: 10, window: '1s', algorithm: 'leaky-bucket' },
        { name: 'slow', limit: 2, window: '1s', algorithm: 'leaky-bucket' },
      ],
    })
    const delays = Array.from({ length: 4 }, () => limiter.consume('client').delayMs)
    expect(delays).toEqual([0, 500, 1000, 0])
  })
})

describe('large numbers', () => {
  test('what is settled is exact up to 2^53 − 1 where units are only counted, else up to 10^12', () => {
    const most = Number.MAX_SAFE_INTEGER
    const fixed = createLimiter({ limit: most, window: '1d', algorithm: 'fixed-window' })
    fixed.consume('org', { cost: most })
    fixed.settle('org', -most + 1)
    expect(fixed.peek('org').remaining).toBe(most - 1)
    const sliding = createLimiter({ limit: 1e12, window: '1d' })
    expect(() => sliding.settle('org', -1e12 - 1)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_RANGE' }),
    )
    fixed.close()
    sliding.close()
  })

  it('a block over 24.8 days holds', () => {
    jest.useFakeTimers({ doNotFake: ['performance'] })
    const { clock, limiter } = world({ limit: 2, window: '1m' })
    limiter.block('client', '30d')
    clock.advance(30 * 86_400_000 - 1)
    jest.advanceTimersByTime(60_000)
    expect(limiter.consume('client')).toMatchObject({ allowed: false, retryAfterMs: 1 })
  })
})

describe('limit "5" means 1000, NaN never limits, a misspelt option is ignored', () => {
  const wrong: [option: string, given: object][] = [
    ['limit', { limit: '5', window: '1m' }],
    ['limit', { limit: Number.NaN, window: '1m' }],
    ['window', { limit: 5, window: Number.NaN }],
    ['limt', { limt: 5, window: '1m' }],
  ]
  it.each(wrong)('not here: %s is an error', (option, given) => {
    expect(() => createLimiter(given as never)).toThrow(expect.objectContaining({ option }))
  })
})

describe('the options of calls', () => {
  const calls: [string, (limiter: Limiter, options: never) => unknown][] = [
    ['consume', (limiter, options) => limiter.consume('ada', options)],
    ['wait', (limiter, options) => limiter.wait('ada', options)],
    ['takeTurn', (limiter, options) => limiter.takeTurn('ada', options)],
    ['acquire', (limiter, options) => limiter.acquire('ada', options)],
    ['peek', (limiter, options) => limiter.peek('ada', options)],
    ['settle', (limiter, options) => limiter.settle('ada', -1, options)],
    ['reset', (limiter, options) => limiter.reset('ada', options)],
    ['block', (limiter, options) => limiter.block('ada', '1m', options)],
  ]
  const limiter = createLimiter({ limit: 10, window: '1m' }) as Limiter

  it.each(calls)('of %s are an object with what it takes', async (_, call) => {
    const attempt = async (options: unknown) => call(limiter, options as never)
    for (const options of [5, null, '5', [5], () => 5])
      await expect(attempt(options)).rejects.toMatchObject({
        code: 'SLUICE_OPTION_TYPE',
        option: 'options',
        received: expect.anything(),
      })
    await expect(attempt({ costs: 5 })).rejects.toMatchObject({
      code: 'SLUICE_OPTION_UNKNOWN',
      option: 'costs',
    })
    expect(limiter.peek('ada')).toMatchObject({ remaining: 10 })
  })

  it('an error names those that there are', () => {
    expect(() => limiter.consume('ada', { costs: 5 } as never)).toThrow(/one of the options cost,/)
  })
})

describe('an undefined key becomes one bucket shared by everybody', () => {
  it.each([undefined, null, '', 42, {}])('not here: %p is an error', (key) => {
    const { store, limiter } = world({ limit: 5, window: '1m' })
    const wrong = expect.objectContaining({ code: 'SLUICE_KEY' })
    expect(() => limiter.consume(key as never)).toThrow(wrong)
    expect(() => limiter.peek(key as never)).toThrow(wrong)
    expect(() => limiter.settle(key as never, 1)).toThrow(wrong)
    expect(() => limiter.reset(key as never)).toThrow(wrong)
    expect(() => limiter.block(key as never, '1m')).toThrow(wrong)
    expect(store.size).toBe(0)
  })
})

describe('block()', () => {
  it('refuses for so long, then the quota is full', () => {
    const { clock, limiter } = world({ limit: 3, window: '1m' })
    limiter.consume('client', { cost: 2 })
    limiter.block('client', 5000)
    clock.advance(4999)
    expect(limiter.consume('client')).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterMs: 1,
      resetMs: 1,
      delayMs: 0,
    })
    expect(limiter.consume('other').allowed).toBe(true)
    clock.advance(1)
    expect(limiter.consume('client')).toMatchObject({ allowed: true, remaining: 2 })
  })
})

describe('a store that answers with promises of another library', () => {
  it('is awaited like any other', async () => {
    const memory = memoryStore({ clock: manualClock(START) })
    closing.push(memory)
    const reset: string[] = []
    // biome-ignore lint/suspicious/noThenProperty: that is what such promises are
    const later = <T>(value: T) => ({ then: (use: (value: T) => unknown) => use(value) }) as never
    const store: Store<'async'> = {
      mode: 'async',
      open(keyspaces, prefix) {
        const ledger = memory.open(keyspaces, prefix)
        return {
          decide: (...asked) => later(structuredClone(ledger.decide(...asked))),
          change: (change) => later(void reset.push('key' in change ? change.key : '')),
        }
      },
      close() {},
    }
    const limiter = createLimiter({ store, limit: 2, window: '1m' })
    expect(await limiter.consume('client')).toMatchObject({ allowed: true, remaining: 1 })
    expect(await limiter.peek('client')).toMatchObject({ allowed: true, remaining: 1 })
    const done = limiter.reset('client')
    expect(done).toBeInstanceOf(Promise)
    await done
    expect(reset).toEqual(['client'])
  })
})

describe('close()', () => {
  it('ends the store that the limiter made itself', () => {
    const limiter = createLimiter({ limit: 1, window: '1d' })
    const answers = [limiter.consume('client').allowed, limiter.consume('client').allowed]
    limiter.close()
    expect([...answers, limiter.consume('client').allowed]).toEqual([true, false, true])
  })

  it('leaves a store that was passed in open', () => {
    const { store, limiter } = world({ limit: 1, window: '1m' })
    limiter.consume('client')
    limiter.close()
    expect(store.size).toBe(1)
    expect(limiter.consume('client').allowed).toBe(false)
  })
})

test.each([
  [{ limit: 5, window: '1 mnute' }, 'SLUICE_OPTION_TYPE', 'window'],
  [{ limit: 5, window: '1m', algorithm: 'tokenBucket' }, 'SLUICE_OPTION_VALUE', 'algorithm'],
  [{ limit: 5, window: '1m', onStoreError: 'open' }, 'SLUICE_OPTION_VALUE', 'onStoreError'],
  [{ limit: 5, windw: '1m' }, 'SLUICE_OPTION_UNKNOWN', 'windw'],
])('checks the texts of a configuration: %j', (config, code, option) => {
  const create = () => createLimiter(config as RateLimitConfig)
  expect(create).toThrow(expect.objectContaining({ code, option }))
})

describe('a wrong argument', () => {
  const bucket = { algorithm: 'leaky-bucket', maxDelay: '1m' } as const
  const calls: [string, (limiter: Limiter) => unknown][] = [
    ['consume', (limiter) => limiter.consume('')],
    ['consume with a wrong cost', (limiter) => limiter.consume('ada', { cost: -1 })],
    ['wait', (limiter) => limiter.wait('')],
    ['takeTurn', (limiter) => limiter.takeTurn('')],
    ['acquire', (limiter) => limiter.acquire('ada')],
    ['peek', (limiter) => limiter.peek('')],
    ['settle', (limiter) => limiter.settle('ada', 0.5)],
    ['settle with a wrong time', (limiter) => limiter.settle('ada', -1, { at: -1 })],
    ['settle with a wrong rest', (limiter) => limiter.settle('ada', -1, { remaining: -1 })],
    [
      'settle with a wrong source',
      (limiter) => limiter.settle('ada', -1, { source: 'me' as never }),
    ],
    ['reset', (limiter) => limiter.reset('')],
    ['block', (limiter) => limiter.block('ada', 'soon' as never)],
    ['override', (limiter) => limiter.override('ada', {} as never)],
    ['grant', (limiter) => limiter.grant('ada', 0)],
  ]

  test.each(calls)('of %s rejects on a remote store', async (_, call) => {
    const store = failingStore()
    const limiters = [
      createLimiter({ ...bucket, store, limit: 5, window: '1m' }),
      new RoutedLimiter({ ...bucket, store, limit: 5, window: '1m' }, plain).limiter,
    ]
    for (const limiter of limiters) {
      await expect(call(limiter)).rejects.toBeInstanceOf(SluiceError)
      limiter.close()
    }
    expect(store.calls).toBe(0)
  })

  test.each(calls)('of %s throws where it answers at once', async (name, call) => {
    const limiter = createLimiter({ ...bucket, limit: 5, window: '1m' })
    if (name === 'wait') await expect(call(limiter)).rejects.toBeInstanceOf(SluiceError)
    else expect(() => call(limiter)).toThrow(SluiceError)
    limiter.close()
  })

  test('of the settlement of an acquisition rejects on a remote store', async () => {
    const limiter = createLimiter({ store: failingStore(), concurrent: 2 })
    const slot = await limiter.acquire('ada')
    await expect(slot.settle(-1)).rejects.toBeInstanceOf(SluiceError)
    await slot.release()
    limiter.close()
  })
})
