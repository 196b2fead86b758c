import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { random } from '@sluice/test-harness/random'
import fc from 'fast-check'
import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import { ALGORITHM_NAMES } from '../../algorithms/index.ts'
import { WaitError } from '../../errors/wait-error.ts'
import type { DecisionEvent } from '../../events.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { Charge, Store } from '../../stores/store.ts'
import { failingStore } from '../../testing/index.ts'
import { listen } from '../../testing/listen.ts'
import { createLimiter } from '../create-limiter.ts'
import type { Decision } from '../decision.ts'
import type { Limiter, WaitOptions } from '../limiter.ts'
import { Policy } from '../policy.ts'
import { StoreLimiter } from '../store-limiter.ts'
import type { Turn } from './turn.ts'
import { WaitQueues } from './wait-queues.ts'

/** A moment that begins a minute. */
const START = 1_800_000_000_000 - (1_800_000_000_000 % 60_000)

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'], now: START })
  jest.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  for (const each of closing.splice(0)) each.close()
  jest.useRealTimers()
  jest.restoreAllMocks()
})

const closing: { close(): void }[] = []

function closed<T extends { close(): void }>(each: T): T {
  closing.push(each)
  return each
}

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms)
const clock = () => Date.now()
/** One in a second. */
const ONE = { limit: 1, window: '1s', algorithm: 'fixed-window' } as const

/** A limiter on a store whose clock is that of the timers, and the outcomes of its waits in their order. */
function world(options: object = ONE, store: Store = closed(memoryStore({ clock }))) {
  const limiter: Limiter = closed(
    createLimiter({ prefix: 'waits', store, ...options } as never) as Limiter,
  )
  const began = performance.now()
  const outcomes: string[] = []
  const wait = (name: string, key = 'ada', terms: WaitOptions & { cost?: number } = {}) => {
    const at = () => Math.floor((performance.now() - began) / 100) / 10
    return limiter.wait(key, terms).then(
      (decision) => {
        outcomes.push(`${name} ${at()}`)
        return decision
      },
      (error: WaitError) => {
        outcomes.push(`${name} ${at()} ${error.code}`)
        return error
      },
    )
  }
  return { limiter, outcomes, wait, store }
}

/** A remote store that makes each change 20 ms after it was asked for it. */
function slowToChange(): Store {
  const store = failingStore({ clock })
  const open: Store<'async'>['open'] = (...how) => {
    const ledger = store.open(...how)
    const change: typeof ledger.change = async (...asked) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return ledger.change(...asked)
    }
    return { ...ledger, change }
  }
  return { ...store, open }
}

/** The limit of its only policy. */
function limitOf(limiter: object): CompiledLimit {
  return (limiter as StoreLimiter).compiledPolicies[0]?.compiledLimit as CompiledLimit
}

const remaining = async (limiter: Limiter, key = 'ada') => (await limiter.peek(key)).remaining

describe('wait()', () => {
  it('admits at once, then one after the other as the limit says', async () => {
    const { wait, outcomes } = world()
    for (const name of ['a', 'b', 'c']) void wait(name)
    await pass(0)
    expect(outcomes).toEqual(['a 0'])
    await pass(5000)
    expect(outcomes).toEqual(['a 0', 'b 1', 'c 2'])
  })

  it.each(ALGORITHM_NAMES)(
    'admits with %s no more than consume does, and each in its turn',
    async (algorithm) => {
      const { wait, outcomes } = world({ limit: 5, window: '10s', algorithm })
      for (let i = 0; i < 12; i += 1) void wait(`${i}`)
      await pass(60_000)
      const names = outcomes.map((each) => each.split(' ')[0])
      expect(names).toEqual(Array.from({ length: 12 }, (_, i) => `${i}`))
      const times = outcomes.map((each) => Number(each.split(' ')[1]))
      const most = algorithm === 'sliding-log' || algorithm === 'leaky-bucket' ? 6 : 10
      for (const from of times)
        expect(times.filter((at) => at >= from && at < from + 9.9).length).toBeLessThanOrEqual(most)
    },
  )

  it('serves higher priorities first', async () => {
    const { wait, outcomes } = world()
    void wait('first')
    await pass(0)
    for (const priority of [0, 5, 5, -3]) void wait(`${priority}`, 'ada', { priority })
    await pass(5000)
    expect(outcomes).toEqual(['first 0', '5 1', '5 2', '0 3', '-3 4'])
  })

  it('never lets a key wait for another one', async () => {
    const { wait, outcomes } = world({ limit: 3, window: '1m', algorithm: 'fixed-window' })
    void wait('large', 'ada', { cost: 3 })
    void wait('second', 'ada', { cost: 3 })
    void wait('cheap', 'bob')
    await pass(0)
    expect(outcomes.sort()).toEqual(['cheap 0', 'large 0'])
  })

  it('rejects as soon as maxWait is certain not to suffice, with the wait', async () => {
    const { wait, limiter, outcomes } = world()
    await limiter.consume('ada')
    const error = (await wait('late', 'ada', { maxWait: '500ms' })) as WaitError
    expect(error).toBeInstanceOf(WaitError)
    expect(error).toMatchObject({ code: 'SLUICE_WAIT_TOO_LONG', retryAfterMs: 1000 })
    expect(error.message).toMatch(/^wait: it would have taken longer than maxWait.*1000 ms more/)
    void wait('in time', 'ada', { maxWait: '1s' })
    void wait('behind', 'ada', { maxWait: '500ms' })
    await pass(0)
    expect(outcomes).toEqual(['late 0 SLUICE_WAIT_TOO_LONG', 'behind 0 SLUICE_WAIT_TOO_LONG'])
    await pass(1000)
    expect(outcomes.at(-1)).toBe('in time 1')
  })

  it('rejects at once who is behind others that take what comes back in time, with the wait', async () => {
    const { wait, outcomes } = world({ limit: 2, window: '1m', algorithm: 'fixed-window' })
    void wait('one')
    await pass(0)
    void wait('two', 'ada', { cost: 2 })
    const cheap = wait('cheap', 'ada', { maxWait: '90s', priority: -1 })
    await pass(0)
    expect(outcomes).toEqual(['one 0', 'cheap 0 SLUICE_WAIT_TOO_LONG'])
    // Two windows: the other one takes all of the first.
    expect(await cheap).toMatchObject({ retryAfterMs: 120_000 })
  })

  it.each<[string, '1s' | '2s', number, number]>([
    ['fixed-window', '1s', 10, 2000],
    ['token-bucket', '1s', 10, 1100],
    // The turn behind the one that is taken is known when that is over.
    ['leaky-bucket', '1s', 11, 1100],
    // Rounding down may admit one unit more.
    ['sliding-window', '2s', 12, 2100],
  ])(
    'lets no more wait behind %s than may be admitted in %s',
    async (algorithm, maxWait, most, retryAfterMs) => {
      const burst = algorithm === 'token-bucket' ? { burst: 1 } : {}
      const { wait, limiter, outcomes } = world({ limit: 10, window: '1s', algorithm, ...burst })
      await limiter.consume('ada', { cost: algorithm.endsWith('window') ? 10 : 1 })
      const waits = Array.from({ length: 30 }, (_, i) => wait(`${i}`, 'ada', { maxWait }))
      await pass(0)
      const late = Array.from({ length: 30 - most }, (_, i) => `${most + i} 0 SLUICE_WAIT_TOO_LONG`)
      expect(outcomes).toEqual(late)
      expect(await waits[29]).toMatchObject({ retryAfterMs })
      await pass(2000)
      expect(outcomes.filter((each) => !each.includes('SLUICE')).length).toBeGreaterThan(most - 3)
    },
  )

  it('notices that others have come before it', async () => {
    const { wait, limiter, outcomes } = world({ ...ONE, limit: 2, algorithm: 'token-bucket' })
    await limiter.consume('ada', { cost: 2 })
    void wait('first', 'ada', { maxWait: '1s' })
    void wait('second', 'ada', { maxWait: '1s' })
    await pass(100)
    expect(outcomes).toEqual([])
    void wait('before', 'ada', { priority: 1 })
    await pass(0)
    expect(outcomes).toEqual(['second 0.1 SLUICE_WAIT_TOO_LONG'])
    await pass(1000)
    expect(outcomes.slice(1)).toEqual(['before 0.5', 'first 1'])
  })

  it('rejects nobody early who could have been admitted', async () => {
    const cost = fc.integer({ min: 1, max: 5 })
    const plan = fc.record({
      algorithm: fc.constantFrom(...ALGORITHM_NAMES),
      before: fc.array(fc.tuple(fc.integer({ min: 0, max: 4000 }), cost), { maxLength: 12 }),
      blockMs: fc.constantFrom(0, 0, 3000),
      ahead: fc.array(fc.tuple(cost, fc.integer({ min: -1, max: 1 })), { maxLength: 8 }),
      own: cost,
      maxWait: fc.integer({ min: 0, max: 40_000 }),
    })
    let early = 0
    await fc.assert(
      fc.asyncProperty(plan, async ({ algorithm, before, blockMs, ahead, own, maxWait }) => {
        const play = async (terms: WaitOptions) => {
          const started = 40_000 * Math.ceil(Date.now() / 40_000)
          await pass(started - Date.now())
          const delay = algorithm === 'leaky-bucket' ? { maxDelay: '5s' } : {}
          const { wait, limiter } = world({ limit: 5, window: '4s', algorithm, ...delay })
          for (const [afterMs, cost] of before) {
            await pass(afterMs)
            await limiter.consume('ada', { cost })
          }
          if (blockMs > 0) await limiter.block('ada', blockMs)
          for (const [cost, priority] of ahead) void wait('', 'ada', { cost, priority })
          await pass(0)
          const began = performance.now()
          let endedMs = -1
          const ended = wait('last', 'ada', { cost: own, ...terms })
          void ended.then(() => {
            endedMs = performance.now() - began
          })
          while (endedMs < 0) await pass(500)
          limiter.close()
          return { outcome: await ended, endedMs }
        }
        const alone = await play({})
        const { outcome, endedMs } = await play({ maxWait })
        if (!(outcome instanceof WaitError) || endedMs >= maxWait) return
        early += 1
        expect(alone.endedMs).toBeGreaterThan(maxWait)
        expect(outcome.retryAfterMs).toBeGreaterThan(maxWait - endedMs)
        expect(outcome.retryAfterMs).toBeLessThanOrEqual(alone.endedMs - endedMs)
      }),
      { numRuns: 150 },
    )
    expect(early).toBeGreaterThan(10)
  })

  it('rejects at once what can never be admitted, behind others too', async () => {
    const { wait, limiter, outcomes } = world({ limit: 5, window: '1m' })
    void wait('first', 'ada', { cost: 5 })
    void wait('waits', 'ada', { cost: 5 })
    const error = (await wait('large', 'ada', { cost: 6 })) as WaitError
    expect(error).toMatchObject({ code: 'SLUICE_WAIT_NEVER', retryAfterMs: Infinity })
    expect(error.message).not.toContain('Infinity')
    await limiter.override('bob', { limit: 10 })
    await wait('own', 'bob', { cost: 10 })
    expect(outcomes.slice(-1)).toEqual(['own 0'])
    await limiter.override('cyd', { limit: 0 })
    expect(await wait('none', 'cyd')).toMatchObject({ code: 'SLUICE_WAIT_NEVER' })
  })

  it('lets one leave at once when its signal is aborted, and charges nothing', async () => {
    const { wait, limiter, outcomes } = world()
    const abort = new AbortController()
    void wait('first')
    void wait('gone', 'ada', { signal: abort.signal })
    void wait('last', 'ada', { signal: new AbortController().signal })
    await pass(100)
    abort.abort(new Error('of the client'))
    await pass(0)
    expect(outcomes).toEqual(['first 0', 'gone 0.1 SLUICE_WAIT_ABORTED'])
    await pass(1000)
    expect(outcomes.at(-1)).toBe('last 1')
    const error = await limiter.wait('ada', { signal: abort.signal }).catch((each) => each)
    expect(error).toMatchObject({
      code: 'SLUICE_WAIT_ABORTED',
      cause: { message: 'of the client' },
    })
  })

  it('gives back what was charged for one that left while the store was asked', async () => {
    const store = closed(failingStore({ clock }))
    const { wait, limiter, outcomes } = world({ ...ONE, deadline: '10s' }, store)
    const abort = new AbortController()
    store.hang()
    void wait('gone', 'ada', { signal: abort.signal })
    void wait('next', 'ada')
    await pass(1)
    await new Promise((resolve) => setImmediate(resolve))
    abort.abort()
    await pass(0)
    expect(outcomes).toEqual(['gone 0 SLUICE_WAIT_ABORTED'])
    store.recover()
    for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve))
    await pass(10)
    expect(outcomes).toEqual(['gone 0 SLUICE_WAIT_ABORTED', 'next 0'])
    expect(await remaining(limiter)).toBe(0)
  })

  it('leaves no listener at a signal', async () => {
    const { signal } = new AbortController()
    const { wait } = world()
    void wait('a', 'ada', { signal })
    void wait('b', 'ada', { signal })
    await pass(0)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await pass(2000)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('has a bound, and one key leaves places to the others', async () => {
    const { wait, outcomes } = world({ ...ONE, maxWaiting: 4 })
    for (const name of ['a', 'b', 'c', 'd']) void wait(name)
    await pass(0)
    // Who is admitted takes no place.
    expect(outcomes.splice(0)).toEqual(['a 0', 'd 0 SLUICE_WAIT_FULL'])
    for (const name of ['e', 'f', 'g']) void wait(name, 'bob')
    void wait('h')
    await pass(0)
    expect(outcomes.splice(0)).toEqual(['h 0 SLUICE_WAIT_FULL', 'e 0', 'g 0 SLUICE_WAIT_FULL'])
    await pass(5000)
    expect(outcomes).toEqual(['b 1', 'f 1', 'c 2'])
    const none = world({ ...ONE, maxWaiting: 0 })
    await none.wait('a')
    await none.wait('b')
    expect(none.outcomes.map((each) => each.replace(/ \S+/, ''))).toEqual([
      'a',
      'b SLUICE_WAIT_FULL',
    ])
  })

  describe.each([
    ['memory', () => memoryStore({ clock })],
    ['a remote store', () => failingStore({ clock })],
  ])('in %s', (_, storeOf: () => Store) => {
    it('takes no place where the quota is free', async () => {
      const options = { limit: 10_000, window: '1m', algorithm: 'fixed-window', maxWaiting: 2 }
      const { wait, limiter, outcomes } = world(options, closed(storeOf()))
      for (let i = 0; i < 1000; i += 1) void wait(`${i}`)
      for (let i = 0; i < 5; i += 1) await settled()
      expect(outcomes).toEqual(Array.from({ length: 1000 }, (_, i) => `${i} 0`))
      expect(await remaining(limiter)).toBe(9000)
    })

    it('takes no place for a slot that is free', async () => {
      const { limiter } = world({ concurrent: 2, maxWaiting: 2 }, closed(storeOf()))
      const acquired = Array.from({ length: 4 }, () =>
        limiter.acquire('ada', { maxWait: '1m' }).then(
          ({ allowed }) => allowed,
          ({ code }) => code,
        ),
      )
      for (let i = 0; i < 5; i += 1) await settled()
      limiter.close()
      expect(await Promise.all(acquired)).toEqual([
        true,
        true,
        'SLUICE_WAIT_CLOSED',
        'SLUICE_WAIT_FULL',
      ])
    })

    it('lets nothing cheap overtake what waits, though it would fit', async () => {
      const options = { limit: 5, window: '1m', algorithm: 'fixed-window' }
      const { wait, outcomes } = world(options, closed(storeOf()))
      for (const [i, cost] of [2, 4, 1, 3, 1].entries()) void wait(`${i}`, 'ada', { cost })
      for (let i = 0; i < 9; i += 1) await settled()
      expect(outcomes).toEqual(['0 0'])
      for (let i = 0; i < 130; i += 1) {
        await pass(1000)
        await settled()
      }
      const inWindow = outcomes.map((each) => each.split(' ').map(Number))
      expect(inWindow.map(([name, at]) => `${name} ${Math.floor((at as number) / 60)}`)).toEqual([
        '0 0',
        '1 1',
        '2 1',
        '3 2',
        '4 2',
      ])
    })

    it('is asked for once whatever its maxWait, where the quota is free', async () => {
      const options = { limit: 100, window: '1m', algorithm: 'fixed-window' }
      const { wait, outcomes } = world(options, closed(storeOf()))
      for (let i = 0; i < 50; i += 1) void wait(`${i}`, 'ada', { maxWait: 0 })
      await pass(0)
      for (let i = 0; i < 50; i += 1) void wait(`${50 + i}`, 'ada', { maxWait: 0 })
      for (let i = 0; i < 5; i += 1) await settled()
      expect(outcomes).toEqual(Array.from({ length: 100 }, (_, i) => `${i} 0`))
    })
  })

  it('is rejected by close()', async () => {
    const { wait, limiter, outcomes } = world()
    void wait('first')
    void wait('second')
    await pass(0)
    limiter.close()
    await pass(0)
    expect(outcomes).toEqual(['first 0', 'second 0 SLUICE_WAIT_CLOSED'])
    expect(jest.getTimerCount()).toBeLessThanOrEqual(1)
  })

  it('is rejected by close() also while it waits for its turn of a leaky bucket', async () => {
    const options = { limit: 1, window: '1s', algorithm: 'leaky-bucket', maxDelay: '10s' }
    const { wait, limiter, outcomes } = world(options)
    await wait('first')
    void wait('second')
    await pass(100)
    limiter.close()
    await pass(0)
    expect(outcomes).toEqual(['first 0', 'second 0.1 SLUICE_WAIT_CLOSED'])
  })

  it('is rejected by close() in the turn in which it begins', async () => {
    const { wait, limiter, outcomes } = world()
    await wait('first')
    void wait('second')
    limiter.close()
    await pass(5000)
    expect(outcomes).toEqual(['first 0', 'second 0 SLUICE_WAIT_CLOSED'])
  })

  it.each([0, 1])('is rejected after close(), with %i waits before', async (before) => {
    const { wait, limiter, outcomes } = world()
    for (let i = 0; i < before; i += 1) await wait('before')
    limiter.close()
    await wait('after')
    expect(outcomes.at(-1)).toMatch(/^after \d+ SLUICE_WAIT_CLOSED$/)
  })

  describe.each([
    ['memory', () => memoryStore({ clock })],
    ['a store that takes its time for a change', slowToChange],
  ])('in %s', (_, storeOf: () => Store) => {
    it.each([
      ['reset', (limiter: Limiter) => limiter.reset('ada')],
      ['a raised limit', (limiter: Limiter) => limiter.override('ada', { limit: 5 })],
      ['a top-up', (limiter: Limiter) => limiter.grant('ada', 1)],
      ['units given back', (limiter: Limiter) => limiter.settle('ada', -1)],
    ])('notices %s of this process at once', async (_, act) => {
      const options = { limit: 1, window: '1h', algorithm: 'fixed-window' }
      const { wait, limiter, outcomes } = world(options, closed(storeOf()))
      void wait('first')
      void wait('second')
      for (let i = 0; i < 5; i += 1) await settled()
      await pass(1000)
      const changed = act(limiter)
      await pass(20)
      await changed
      for (let i = 0; i < 5; i += 1) await settled()
      expect(outcomes).toEqual(['first 0', 'second 1'])
    })
  })

  it('admits all whom a reset or another limit has made room for, within a second', async () => {
    const { limiter, wait, outcomes } = world({ ...ONE, limit: 3, window: '1m' })
    limiter.consume('ada', { cost: 3 })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) void wait(name)
    await pass(10_000)
    await limiter.reset('ada')
    await pass(1000)
    expect(outcomes).toHaveLength(3)
    await limiter.override('ada', { limit: 7 })
    await pass(1000)
    expect(outcomes).toHaveLength(7)
  })

  it('notices within 30 s what another process has changed', async () => {
    const { wait, store, outcomes } = world({ limit: 1, window: '1d', algorithm: 'fixed-window' })
    const other = world({ limit: 1, window: '1d', algorithm: 'fixed-window' }, store)
    void wait('first')
    void wait('second')
    await pass(1000)
    await other.limiter.reset('ada')
    await pass(31_000)
    expect(outcomes.map((each) => each.split(' ')[0])).toEqual(['first', 'second'])
  })

  it('takes no notice of what a dry run would refuse', async () => {
    const dry = { name: 'dry', limit: 1, window: '1h', dryRun: true }
    const { wait, outcomes } = world({ policies: [dry, { name: 'one', ...ONE }] })
    for (const name of ['a', 'b', 'c']) void wait(name)
    await pass(5000)
    expect(outcomes).toEqual(['a 0', 'b 1', 'c 2'])
  })

  it('waits until a block ends, and is counted by no ban', async () => {
    const ban = { after: 3, within: '1m', for: ['1h'] }
    const { wait, limiter, outcomes } = world({ ...ONE, ban })
    // Somebody else is always faster.
    const thief = setInterval(() => void limiter.consume('ada'), 1000)
    await limiter.consume('ada')
    void wait('late')
    await pass(5500)
    clearInterval(thief)
    expect(outcomes).toEqual([])
    await pass(2000)
    expect(outcomes.splice(0)).toEqual(['late 6'])
    await limiter.block('ada', '5s')
    for (let i = 0; i < 8; i += 1) void wait(`${i}`)
    await pass(20_000)
    expect(outcomes).toHaveLength(8)
    expect(outcomes[0]).toBe('0 12.5')
    expect((await limiter.peek('ada')).ban).toBeUndefined()
    for (let i = 0; i < 4; i += 1) await limiter.consume('ada')
    expect(await wait('banned', 'ada', { maxWait: '1m' })).toMatchObject({
      code: 'SLUICE_WAIT_TOO_LONG',
      retryAfterMs: 3_600_000,
    })
  })

  it('waits for its turn of a leaky bucket, and takes no further one', async () => {
    const options = { limit: 1, window: '1s', algorithm: 'leaky-bucket', maxDelay: '10s' }
    const { wait, limiter, outcomes } = world(options)
    const abort = new AbortController()
    void wait('a')
    const second = wait('b')
    void wait('c', 'ada', { signal: abort.signal })
    void wait('short', 'ada', { maxWait: '1500ms' })
    void wait('d')
    await pass(500)
    abort.abort()
    // One turn is taken for all of them.
    expect((await limiter.peek('ada')).remaining).toBe(9)
    await pass(5000)
    expect(outcomes).toEqual([
      'a 0',
      'short 0 SLUICE_WAIT_TOO_LONG',
      'c 0.5 SLUICE_WAIT_ABORTED',
      'b 1',
      'd 2',
    ])
    expect(await second).toMatchObject({ allowed: true, delayMs: 0, policies: [{ delayMs: 0 }] })
  })

  it('of a turn reports how long the decision took, and not the turn', async () => {
    const decided = listen<DecisionEvent>('sluice:decision')
    closed({ close: () => decided.stop() })
    const { wait } = world({ limit: 1, window: '1s', algorithm: 'leaky-bucket', maxDelay: '10s' })
    void wait('a')
    void wait('b')
    await pass(2000)
    expect(decided.events.map(({ durationMs }) => durationMs)).toEqual([0, 0])
  })

  it('gives a turn back that comes too late', async () => {
    const options = { limit: 1, window: '1s', algorithm: 'leaky-bucket', maxDelay: '10s' }
    const { wait, limiter, outcomes } = world(options)
    await limiter.consume('ada')
    const left = await remaining(limiter)
    void wait('a', 'ada', { maxWait: '500ms' })
    await pass(10)
    expect([outcomes, await remaining(limiter)]).toEqual([['a 0 SLUICE_WAIT_TOO_LONG'], left])
  })

  it('gives a turn back that nobody waits for any more', async () => {
    const options = { limit: 1, window: '1s', algorithm: 'leaky-bucket', maxDelay: '10s' }
    const { wait, outcomes } = world(options)
    const abort = new AbortController()
    void wait('a')
    void wait('b', 'ada', { signal: abort.signal })
    void wait('c')
    await pass(10)
    abort.abort()
    await pass(3000)
    expect(outcomes).toEqual(['a 0', 'b 0 SLUICE_WAIT_ABORTED', 'c 1'])
  })

  it.each([
    ['allow', ['a 0', 'b 0'], []],
    ['deny', [], ['a 2', 'b 2 SLUICE_WAIT_TOO_LONG']],
    ['local', ['a 0'], ['b 2.1']],
  ])('follows onStoreError: %s while the store fails', async (onStoreError, during, after) => {
    const store = closed(failingStore({ clock }))
    const { wait, outcomes } = world({ ...ONE, window: '1m', onStoreError }, store)
    store.fail()
    void wait('a', 'ada', { maxWait: '10s' })
    void wait('b', 'ada', { maxWait: '10s' })
    for (let i = 0; i < 20; i += 1) await settled()
    expect(outcomes).toEqual(during)
    store.recover()
    for (let i = 0; i < 80; i += 1) {
      await pass(100)
      await settled()
    }
    expect(outcomes).toEqual([...during, ...after])
  })

  it('reports a wait once, by the decision with which it ends', async () => {
    const seen: boolean[] = []
    const onDecision = ({ allowed }: { allowed: boolean }) => void seen.push(allowed)
    const { wait } = world({ ...ONE, onDecision })
    expect(await wait('never', 'ada', { cost: 2 })).toMatchObject({ code: 'SLUICE_WAIT_NEVER' })
    expect(seen.splice(0)).toEqual([false])
    void wait('a')
    void wait('b')
    void wait('c', 'ada', { maxWait: '2500ms' })
    void wait('d', 'ada', { maxWait: '2500ms' })
    await pass(10_000)
    expect(seen).toEqual([true, false, true, true])
  })

  it('rejects wrong arguments', async () => {
    const { limiter } = world()
    const wrong = [{ maxWait: -1 }, { priority: 0.5 }, { signal: {} }, { cost: -1 }]
    for (const terms of wrong)
      await expect(limiter.wait('ada', terms as never)).rejects.toMatchObject({
        name: 'SluiceError',
      })
    await expect(limiter.wait('')).rejects.toMatchObject({ code: 'SLUICE_KEY' })
    const slots = world({ concurrent: 1 })
    await expect(slots.limiter.wait('ada')).rejects.toThrow('Call acquire() instead')
  })

  it('keeps its place when the clock of the store steps', async () => {
    let skew = 0
    const store = closed(memoryStore({ clock: () => Date.now() + skew }))
    const { wait, outcomes } = world({ ...ONE, window: '10s' }, store)
    for (const name of ['a', 'b', 'c']) void wait(name)
    await pass(1000)
    skew = -3_600_000
    await pass(20_000)
    expect(outcomes.length).toBe(2)
    skew = 3_600_000
    await pass(12_000)
    expect(outcomes.map((each) => each[0])).toEqual(['a', 'b', 'c'])
  })
})

describe('acquire() with maxWait', () => {
  it('takes the slot that another one gives back, at once, in order', async () => {
    const { limiter } = world({ concurrent: 1 })
    const order: string[] = []
    const work = async (name: string) => {
      await using slot = await limiter.acquire('ada', { maxWait: '1m' })
      order.push(`${name} ${slot.allowed}`)
    }
    await Promise.all(['a', 'b', 'c'].map(work))
    expect(order).toEqual(['a true', 'b true', 'c true'])
    expect(performance.now()).toBe(performance.now())
    expect(await remaining(limiter)).toBe(1)
  })

  it('asks again each second, for a slot that another process gives back, and fails at its deadline', async () => {
    const { limiter, store } = world({ concurrent: 1 })
    const other = world({ concurrent: 1 }, store).limiter
    const taken = await other.acquire('ada')
    const first = limiter.acquire('ada', { maxWait: '1m' })
    const second = limiter.acquire('ada', { maxWait: '3s' }).catch((error) => error.code)
    await pass(500)
    await taken.release()
    await pass(1000)
    expect(await first).toMatchObject({ allowed: true })
    await pass(3000)
    expect(await second).toBe('SLUICE_WAIT_TOO_LONG')
  })

  it('is rejected at once while its key is blocked for longer than it may wait', async () => {
    const { limiter } = world({ concurrent: 1 })
    await limiter.block('ada', '1m')
    const errors: unknown[] = []
    limiter.acquire('ada', { maxWait: '59s' }).catch((error) => errors.push(error))
    await pass(0)
    expect(errors).toMatchObject([{ code: 'SLUICE_WAIT_TOO_LONG', retryAfterMs: 60_000 }])
    const acquired = limiter.acquire('ada', { maxWait: '61s' })
    await pass(60_000)
    expect(await acquired).toMatchObject({ allowed: true })
  })

  it('takes a slot at its deadline that another process has given back meanwhile', async () => {
    const { limiter, store } = world({ concurrent: 1 })
    const taken = await world({ concurrent: 1 }, store).limiter.acquire('ada')
    const acquired = limiter.acquire('ada', { maxWait: '500ms' })
    await pass(300)
    await taken.release()
    await pass(200)
    expect(await acquired).toMatchObject({ allowed: true })
  })

  it('takes it also where the process has stood still beyond its deadline', async () => {
    const { limiter, store } = world({ concurrent: 1 })
    const taken = await world({ concurrent: 1 }, store).limiter.acquire('ada')
    const acquired = limiter.acquire('ada', { maxWait: '500ms' })
    const behind = limiter.acquire('ada', { maxWait: '600ms' }).catch((error) => error.code)
    await pass(300)
    await taken.release()
    const now = performance.now.bind(performance)
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 250)
    await pass(200)
    expect(await acquired).toMatchObject({ allowed: true })
    await pass(1000)
    expect(await behind).toBe('SLUICE_WAIT_TOO_LONG')
  })

  it('gives back the slot and the units of one that left while the store was asked', async () => {
    const store = closed(failingStore({ clock }))
    const policies = [
      { name: 'slots', concurrent: 1 },
      { name: 'units', limit: 5, window: '1h' },
    ]
    const { limiter } = world({ policies, deadline: '10s' }, store)
    const abort = new AbortController()
    store.hang()
    const gone = limiter
      .acquire('ada', { maxWait: '1m', signal: abort.signal })
      .catch((e) => e.code)
    await settled()
    abort.abort()
    expect(await gone).toBe('SLUICE_WAIT_ABORTED')
    store.recover()
    for (let i = 0; i < 5; i += 1) await settled()
    const { policies: found } = await limiter.peek('ada')
    expect(found.map((each) => each.remaining)).toEqual([1, 5])
  })
})

describe('takeTurn()', () => {
  const QUEUE = { limit: 1, window: '1s', algorithm: 'leaky-bucket', maxDelay: '3s' } as const

  it('tells when a turn of a leaky bucket comes, charged now, and gives it back', async () => {
    const { limiter } = world(QUEUE)
    const turns = [1, 2, 3, 4, 5].map(() => limiter.takeTurn('ada') as Turn<'sync'>)
    expect(turns.map(({ allowed, delayMs }) => allowed && delayMs)).toEqual([
      0,
      1000,
      2000,
      3000,
      false,
    ])
    turns[4]?.cancel()
    expect(limiter.peek('ada')).toMatchObject({ remaining: 0 })
    turns[3]?.cancel()
    turns[3]?.cancel()
    expect(await limiter.takeTurn('ada')).toMatchObject({ allowed: true, delayMs: 3000 })
  })

  it.each([
    ['before', ['queue', 'other']],
    ['behind', ['other', 'queue']],
  ])('gives it back also %s a policy of another algorithm', (_, names) => {
    const named = { queue: QUEUE, other: { limit: 10, window: '1m' } }
    const policies = names.map((name) => ({ name, ...named[name as keyof typeof named] }))
    const { limiter } = world({ policies })
    const remaining = () => {
      const { policies } = limiter.peek('ada') as Decision
      return new Map(policies.map((each) => [each.name, each.remaining]))
    }
    const before = [remaining()]
    const turns = [1, 2, 3].map(() => {
      const turn = limiter.takeTurn('ada') as Turn<'sync'>
      before.push(remaining())
      return turn
    })
    const after = turns.toReversed().map((turn) => {
      turn.cancel()
      return remaining()
    })
    expect(after).toEqual(before.slice(0, 3).toReversed())
  })

  it('gives nothing back to a dry run that has not been charged, and waits for none of its turns', () => {
    const policies = [
      { name: 'queue', ...QUEUE },
      { name: 'new', ...QUEUE, maxDelay: '1s', dryRun: true },
    ]
    const { limiter } = world({ policies })
    const remaining = () => (limiter.peek('ada') as Decision).policies.map((each) => each.remaining)
    const turns = [1, 2, 3].map(() => limiter.takeTurn('ada') as Turn<'sync'>)
    expect(turns[2]?.policies[1]).toMatchObject({ allowed: false })
    expect(turns[1]).toMatchObject({ delayMs: 1000, policies: [{ delayMs: 1000 }, { delayMs: 0 }] })
    expect(remaining()).toEqual([1, 0])
    turns[2]?.cancel()
    expect(remaining()).toEqual([2, 0])
  })

  it('never puts two turns on one moment, whatever is given back', () => {
    const { limiter } = world({ ...QUEUE, limit: 10, maxDelay: '10s' })
    const kept: number[] = []
    for (let round = 0; round < 100; round += 1) {
      const turns: Turn<'sync'>[] = []
      for (let turn = limiter.takeTurn('ada') as Turn<'sync'>; turn.allowed; ) {
        turns.push(turn)
        turn = limiter.takeTurn('ada') as Turn<'sync'>
      }
      const last = turns.pop()
      if (last !== undefined) kept.push(last.delayMs)
      for (const turn of turns) turn.cancel()
    }
    expect(kept).toEqual([10_000])
  })

  it('stays empty when a settlement gives it back and a later one has been taken', () => {
    const { limiter } = world(QUEUE)
    const first = limiter.consume('ada') as Decision
    const second = limiter.consume('ada') as Decision
    const { at, remaining } = first
    limiter.settle('ada', -1, { at, remaining })
    // Without `remaining`, nobody knows whether it was the last one.
    limiter.settle('ada', -1, { at })
    expect(limiter.peek('ada')).toMatchObject({ remaining: 2 })
    limiter.settle('ada', -1, { at: second.at, remaining: second.remaining })
    limiter.settle('ada', -1, { at })
    expect(limiter.peek('ada')).toMatchObject({ remaining: 4 })
  })

  it('is an error where no algorithm knows turns, and where something is held', () => {
    const wrong = [ONE, { ...ONE, algorithm: 'token-bucket' }, { concurrent: 1 }]
    const fixes = ['Call wait() instead', 'Call wait() instead', 'Call acquire() instead']
    for (const [i, options] of wrong.entries())
      expect(() => world(options).limiter.takeTurn('ada')).toThrow(fixes[i])
  })

  it('rejects if a remote store does not confirm that it is given back', async () => {
    const store = closed(failingStore({ clock }))
    const { limiter } = world(QUEUE, store)
    const turn = await limiter.takeTurn('ada')
    store.fail()
    await expect(turn.cancel()).rejects.toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE' })
    expect(await turn.cancel()).toBeUndefined()
  })
})

describe('the queues', () => {
  /** The most that a call of the store takes, ms. */
  const SLOW_MS = 20
  const MOST = 12

  const arrival = fc.record({
    key: fc.constantFrom('ada', 'bob'),
    cost: fc.integer({ min: 1, max: 3 }),
    priority: fc.integer({ min: 0, max: 1 }),
    maxWait: fc.option(fc.integer({ min: 0, max: 60_000 }), { nil: undefined }),
    /** When it is aborted, ms after its arrival. */
    abortMs: fc.option(fc.integer({ min: 0, max: 20_000 }), { nil: undefined }),
    /** How long after the one before it comes, ms. */
    afterMs: fc.constantFrom(0, 0, 1, 15, 700, 9000),
  })

  const history = fc.record({
    algorithm: fc.constantFrom(...ALGORITHM_NAMES.filter((name) => name !== 'leaky-bucket')),
    arrivals: fc.array(arrival, { maxLength: 30 }),
    latencies: fc.array(fc.integer({ min: 0, max: SLOW_MS }), { minLength: 1, maxLength: 7 }),
  })

  type History = typeof history extends fc.Arbitrary<infer T> ? T : never
  const arrived = { key: 'bob', cost: 1, priority: 0, afterMs: 0 } as const
  /** The first leaves while the store is asked for it. */
  const BEHIND_ONE_WHO_LEFT: History = {
    algorithm: 'sliding-window',
    arrivals: [
      { ...arrived, maxWait: undefined, abortMs: 0 },
      { ...arrived, maxWait: 0, abortMs: undefined },
    ],
    latencies: [17],
  }
  interface Ended {
    readonly name: number
    readonly key: string
    readonly at: number
    readonly code: string
  }

  /** Plays arrivals until all have ended, on a store that is slow in both directions. */
  async function play({ algorithm, arrivals, latencies }: History) {
    const store = closed(memoryStore({ clock }))
    const limiter = createLimiter({ store, limit: 3, window: '10s', algorithm })
    let calls = 0
    let charged = 0
    const slow = () => {
      calls += 1
      return new Promise((resolve) => setTimeout(resolve, latencies[calls % latencies.length]))
    }
    const ledgerCalls = new Map<
      string,
      { askedAt: number; open: number; trip: Promise<unknown>; back?: Promise<unknown> }
    >()
    const queues = new WaitQueues(
      {
        overLimit: () => undefined,
        async ask(charges) {
          const [{ key, cost }] = charges as [Charge]
          // One call of a key at a time, for those that are asked for in the same moment.
          const call = ledgerCalls.get(key) ?? { askedAt: performance.now(), open: 0, trip: slow() }
          ledgerCalls.set(key, call)
          expect(call.askedAt).toBe(performance.now())
          call.open += 1
          await call.trip
          const decision = limiter.consume(key, { cost })
          if (decision.allowed) charged += cost
          call.back ??= slow()
          await call.back
          call.open -= 1
          if (call.open === 0) ledgerCalls.delete(key)
          return decision
        },
        async undo(charges, decision) {
          const [{ key, cost }] = charges as [Charge]
          await slow()
          limiter.settle(key, -cost, { at: decision.at })
          charged -= cost
        },
        ended: () => {},
      },
      MOST,
    )
    const began = performance.now()
    const ended: Ended[] = []
    for (const [name, { key, cost, afterMs, abortMs, ...terms }] of arrivals.entries()) {
      if (afterMs > 0) await pass(afterMs)
      const abort = new AbortController()
      if (abortMs !== undefined) setTimeout(() => abort.abort(), abortMs)
      const charges = [{ key, cost, limit: limitOf(limiter) }]
      const end = (code: string) => ended.push({ name, key, code, at: performance.now() - began })
      queues.wait(charges, { ...terms, signal: abort.signal }).then(
        () => end('admitted'),
        (error) => end(error.code),
      )
      expect(queues.waiters.size).toBeLessThanOrEqual(MOST)
    }
    for (let i = 0; i < 100 && ended.length < arrivals.length; i += 1) await pass(10_000)
    await pass(SLOW_MS)
    limiter.close()
    return { ended, charged, queues, arrivals }
  }

  it('end each wait once, in order, in time, and leave nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (given) => {
        const { ended, charged, queues, arrivals } = await play(given)
        // No lost wake-up.
        expect(ended).toHaveLength(arrivals.length)
        expect([queues.waiters.size, queues.queues.size]).toEqual([0, 0])
        const admitted = ended.filter(({ code }) => code === 'admitted')
        for (const key of ['ada', 'bob']) {
          for (const priority of [0, 1]) {
            // First come, first served.
            const order = admitted
              .filter(({ name }) => arrivals[name]?.key === key)
              .filter(({ name }) => arrivals[name]?.priority === priority)
              .map(({ name }) => name)
            expect(order).toEqual(order.toSorted((one, other) => one - other))
          }
        }
        for (const { name, at, code } of ended) {
          const { maxWait, abortMs } = arrivals[name] as (typeof arrivals)[number]
          const arrivedAt = arrivals.slice(0, name + 1).reduce((sum, each) => sum + each.afterMs, 0)
          // Three answers may be awaited beyond the deadline: what one who left is admitted with, that it is
          // given back, and the own one. An admission is two calls here.
          if (maxWait !== undefined)
            expect(at).toBeLessThanOrEqual(arrivedAt + maxWait + 5 * SLOW_MS)
          if (abortMs !== undefined) expect(at).toBeLessThanOrEqual(arrivedAt + abortMs)
          expect([
            'admitted',
            'SLUICE_WAIT_TOO_LONG',
            'SLUICE_WAIT_ABORTED',
            'SLUICE_WAIT_FULL',
          ]).toContain(code)
        }
        const costs = admitted.map(({ name }) => arrivals[name]?.cost as number)
        expect(charged).toBe(costs.reduce((sum, each) => sum + each, 0))
      }),
      { numRuns: 150, examples: [[BEHIND_ONE_WHO_LEFT]] },
    )
  })

  it('of one key take no notice of those of another', async () => {
    const alone = (given: History) => ({
      ...given,
      latencies: [0],
      arrivals: given.arrivals.map((each) => ({ ...each, cost: 1 })),
    })
    await fc.assert(
      fc.asyncProperty(history, async (given) => {
        const both = alone({ ...given, arrivals: given.arrivals.slice(0, 8) })
        const one = both.arrivals.map((each) => (each.key === 'bob' ? { ...each, cost: 3 } : each))
        const ofAda = async (arrivals: History['arrivals']) =>
          (await play({ ...both, arrivals })).ended
            .filter(({ key }) => key === 'ada')
            .map(({ name, code, at }) => `${name} ${code} ${Math.round(at)}`)
        const start = Date.now() % 20_000
        const first = await ofAda(both.arrivals)
        await pass(40_000 - ((Date.now() - start) % 20_000))
        expect(await ofAda(one)).toEqual(first)
      }),
      { numRuns: 40 },
    )
  })

  it('ask once more if something is given back while they ask', async () => {
    const answers: ((decision: Decision) => void)[] = []
    const queues = new WaitQueues(
      {
        overLimit: () => undefined,
        ask: () => new Promise((resolve) => answers.push(resolve)),
        undo: () => undefined,
        ended: () => {},
      },
      MOST,
    )
    const limiter = closed(createLimiter({ limit: 1, window: '1d' }))
    const [admission, refusal] = [limiter.consume('ada'), limiter.consume('ada')]
    const wait = queues.wait([{ key: 'ada', cost: 1, limit: limitOf(limiter) }], {})
    await pass(0)
    queues.wake('ada')
    answers[0]?.(refusal)
    await pass(0)
    expect(answers).toHaveLength(2)
    answers[1]?.(admission)
    expect(await wait).toBe(admission)
  })

  it('ask again at once behind the last slot: only a refusal says when to come back', async () => {
    const limiter = closed(createLimiter({ concurrent: 1 }))
    const asked = jest.fn(() => limiter.acquire('ada'))
    const actions = { overLimit: () => undefined, undo: () => undefined, ended: () => {} }
    const queues = new WaitQueues({ ...actions, ask: asked }, MOST)
    const charges = () => [{ key: 'ada', cost: 1, limit: limitOf(limiter) }]
    void queues.wait(charges(), {})
    const second = queues.wait(charges(), {}).catch(() => {})
    await pass(0)
    expect(asked).toHaveBeenCalledTimes(2)
    queues.close()
    await second
  })

  it('hold nobody up behind one whom another key refuses for longer', async () => {
    const policies = [
      new Policy('', { name: 'all', limit: 4, window: '10s', algorithm: 'fixed-window' }),
      new Policy('', { name: 'each', limit: 3, window: '1m', algorithm: 'fixed-window' }),
    ]
    const store = closed(memoryStore({ clock }))
    const limiter = closed(new StoreLimiter(policies, { store }))
    const chargesOf = (client: string, cost: number) =>
      policies.map((policy, i) => ({
        key: i === 0 ? 'all' : client,
        limit: policy.limitFor(),
        cost,
      }))
    const began = performance.now()
    const ended: string[] = []
    const wait = async (client: string, cost: number, queueKey: string, priority = 0) => {
      const charges = chargesOf(client, cost)
      await limiter.waiting.wait(charges, { priority }, { queueKey, client })
      ended.push(`${client} ${cost} ${Math.floor((performance.now() - began) / 1000)}`)
    }
    await limiter.decide(chargesOf('ada', 2))
    await limiter.decide(chargesOf('cyd', 2))
    void wait('ada', 2, 'all')
    void wait('bob', 2, 'all')
    await pass(9000)
    expect(ended).toEqual([])
    await pass(2000)
    expect(ended).toEqual(['bob 2 10'])
    // Less than what its key refuses is asked for at once.
    void wait('ada', 1, 'ada', 1)
    await pass(0)
    expect(ended).toEqual(['bob 2 10', 'ada 1 11'])
    await pass(60_000)
    expect(ended).toEqual(['bob 2 10', 'ada 1 11', 'ada 2 60'])
    // Who comes now stands behind nobody.
    expect(limiter.waiting.awaitedKey(chargesOf('ada', 1))).toBeUndefined()
  })

  /**
   * Plays four processes in which as many wait, until all are admitted; gives the waits and mean wait of each, ms.
   * @param apartMs how far apart the units were used that come back first
   */
  async function meanWaits(options: object, each: number, apartMs: number) {
    let state = 7
    const random = () => {
      state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
      return state / 2 ** 32
    }
    jest.spyOn(Math, 'random').mockImplementation(random)
    const store = closed(memoryStore({ clock }))
    const limiter = closed(createLimiter({ store, ...options } as never) as Limiter<'sync'>)
    // None is free when they begin to wait.
    for (let left = limiter.peek('ada').remaining; left > 0; left -= 1) {
      limiter.consume('ada')
      if (apartMs > 0) await pass(apartMs)
    }
    const tripMs = () => new Promise((resolve) => setTimeout(resolve, 1 + random()))
    let asked = 0
    const actions = () => {
      let call: { askedAt: number; trip: Promise<unknown>; back?: Promise<unknown> } | undefined
      return {
        overLimit: () => undefined,
        async ask([charge]: readonly Charge[]) {
          // What is asked for in the same moment shares a call.
          if (call?.askedAt !== performance.now()) {
            asked += 1
            call = { askedAt: performance.now(), trip: tripMs() }
          }
          const own = call
          await own.trip
          const decision = limiter.consume(charge?.key as string)
          own.back ??= tripMs()
          await own.back
          return decision
        },
        undo: () => undefined,
        ended: () => {},
      }
    }
    const waits = Array.from({ length: 4 }, () => [] as number[])
    const processes = waits.map(() => new WaitQueues(actions(), 2 * each))
    const began = performance.now()
    for (let i = 0; i < each; i += 1) {
      for (const [process, queues] of processes.entries()) {
        const charges = [{ key: 'ada', cost: 1, limit: limitOf(limiter) }]
        const wait = queues.wait(charges, {})
        void wait.then(() => waits[process]?.push(performance.now() - began))
      }
    }
    while (waits.some(({ length }) => length < each)) await pass(1000)
    const means = waits.map((all) => all.reduce((sum, one) => sum + one, 0) / each)
    return { waits, means, lastMs: Math.max(...waits.flat()), asked }
  }

  it.each([
    ['sliding-log', { limit: 6, window: 250, algorithm: 'sliding-log' }],
    ['sliding-window', { limit: 10, window: '1s', algorithm: 'sliding-window' }],
    ['token-bucket', { limit: 10, window: '1s', algorithm: 'token-bucket', burst: 1 }],
    ['leaky-bucket', { limit: 10, window: '1s', algorithm: 'leaky-bucket' }],
  ])('of four processes share a quota of %s, and leave little of it', async (_, options) => {
    const { means, lastMs, asked } = await meanWaits(options, 100, 3)
    expect(Math.max(...means) / Math.min(...means)).toBeLessThanOrEqual(1.2)
    const perSecond = options.limit / (options.window === 250 ? 0.25 : 1)
    expect(lastMs / 1000).toBeLessThan(400 / perSecond / 0.95 + 1)
    // Each head asks for each unit at most.
    expect(asked).toBeLessThanOrEqual(4.2 * 400)
  })

  it.each([
    // Later, they come back one after the other.
    ['sliding-log', [0]],
    ['fixed-window', [0, 1, 2, 3]],
  ])('of four processes share units of %s that come back together', async (algorithm, quotas) => {
    const { waits } = await meanWaits({ limit: 100, window: '10s', algorithm }, 100, 0)
    const all = waits.flatMap((each, process) => each.map((ms) => ({ process, ms })))
    all.sort((one, other) => one.ms - other.ms)
    for (const quota of quotas) {
      const admitted = all.slice(100 * quota, 100 * (quota + 1))
      const shares = waits.map((_, i) => admitted.filter(({ process }) => process === i).length)
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(4)
    }
  })

  it.each(['fixed-window', 'sliding-log'] as const)(
    'of three processes: none takes all of a %s while others wait',
    async (algorithm) => {
      jest.spyOn(Math, 'random').mockImplementation(random(3))
      const store = closed(memoryStore({ clock }))
      const worlds = [1, 2, 3].map(() => world({ limit: 3, window: '1s', algorithm }, store))
      await worlds[0]?.limiter.wait('ada', { cost: 3 })
      for (const { wait } of worlds) for (let i = 0; i < 60; i += 1) void wait('admitted')
      await pass(20_900)
      for (const { outcomes } of worlds) {
        const seconds = outcomes.map((each) => Math.floor(Number(each.split(' ')[1])))
        expect(new Set(seconds).size).toBe(20)
      }
    },
  )

  it('leave nothing charged after a storm of aborts', async () => {
    const oneRun = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(oneRun, fc.constantFrom(...ALGORITHM_NAMES), async (aborts, algorithm) => {
        const store = closed(failingStore({ clock }))
        const limiter = createLimiter({ store, limit: 20, window: '1d', algorithm, deadline: '1m' })
        store.hang()
        const waits = aborts.map((abortMs) => {
          const abort = new AbortController()
          setTimeout(() => abort.abort(), abortMs)
          return limiter.wait('ada', { signal: abort.signal }).catch((error) => error.code)
        })
        for (let i = 0; i < 4; i += 1) {
          await settled()
          await pass(100)
        }
        const codes = await Promise.all(waits)
        expect(new Set(codes)).toEqual(new Set(['SLUICE_WAIT_ABORTED']))
        store.recover()
        for (let i = 0; i < 4; i += 1) await settled()
        // A bucket takes back what has not drained: of all but one, what has drained in the meantime is lost.
        const hungMs = algorithm.endsWith('bucket') ? 400 : 0
        const { resetMs } = await limiter.peek('ada')
        expect(resetMs).toBeLessThanOrEqual(hungMs * (aborts.length - 1))
        limiter.close()
      }),
      { numRuns: 50 },
    )
  })
})

async function settled(): Promise<void> {
  await pass(0)
  await new Promise((resolve) => setImmediate(resolve))
  await pass(0)
}
