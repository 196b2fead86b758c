import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { memoryStore, type SettleEvent, type ThresholdEvent } from '../index.ts'
import { failingStore, type ManualClock, manualClock } from '../testing/index.ts'
import { listen } from '../testing/listen.ts'
import { createLimiter } from './create-limiter.ts'
import type { Limiter } from './limiter.ts'

const HOLD = 30_000
const DAY = { limit: 100, window: '1d', algorithm: 'fixed-window', reserve: true } as const

let clock: ManualClock
const closing: { close(): void }[] = []
beforeEach(() => {
  clock = manualClock()
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] })
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => {
  for (const each of closing.splice(0)) each.close()
  jest.restoreAllMocks()
  jest.useRealTimers()
})

/** Two limiters on one store are two processes: each renews what it holds. */
function world(options: object = {}) {
  const store = memoryStore({ clock })
  const process = () => {
    const limiter = createLimiter({
      ...DAY,
      store,
      ...options,
    } as never) as Limiter as Limiter<'sync'>
    closing.push(limiter)
    return limiter
  }
  return { store, process }
}

/** The clock passes together with the timers. */
function pass(ms: number): void {
  for (let passed = 0; passed < ms; passed += 1000) {
    clock.advance(1000)
    jest.advanceTimersByTime(1000)
  }
}

const used = (limiter: Limiter<'sync'>) => 100 - limiter.peek('ada').remaining

describe('an estimate', () => {
  test('is charged, and corrected to the cost, both ways', () => {
    const limiter = world().process()
    const [less, more] = [
      limiter.acquire('ada', { cost: 10 }),
      limiter.acquire('ada', { cost: 20 }),
    ]
    expect(used(limiter)).toBe(30)
    less.settle(4)
    expect(used(limiter)).toBe(24)
    more.settle(25)
    expect(used(limiter)).toBe(29)
    pass(2 * HOLD)
    expect(used(limiter)).toBe(29)
  })

  test('stays charged as long as its process lives', () => {
    const limiter = world().process()
    const stream = limiter.acquire('ada', { cost: 10 })
    pass(20 * HOLD)
    expect(used(limiter)).toBe(10)
    stream.settle(3)
    expect(used(limiter)).toBe(3)
  })

  test('is back after hold if its process has died', () => {
    const { process } = world()
    const [dying, another] = [process(), process()]
    dying.acquire('ada', { cost: 40 })
    another.acquire('ada', { cost: 50 })
    dying.close()
    expect(another.acquire('ada', { cost: 20 }).allowed).toBe(false)
    pass(HOLD)
    expect(used(another)).toBe(50)
    expect(another.acquire('ada', { cost: 20 }).allowed).toBe(true)
  })

  test('that is settled too late is charged all the same', () => {
    const { process } = world()
    const [stalled, another] = [process(), process()]
    const stream = stalled.acquire('ada', { cost: 40 })
    clock.advance(HOLD)
    expect(used(another)).toBe(0)
    stream.settle(15)
    expect(used(another)).toBe(15)
    pass(2 * HOLD)
    expect(used(another)).toBe(15)
  })

  test('is not held by a renewal that comes too late: its settlement charges it', () => {
    const limiter = world().process()
    const stream = limiter.acquire('ada', { cost: 40 })
    clock.advance(HOLD)
    jest.advanceTimersByTime(HOLD)
    expect(used(limiter)).toBe(0)
    stream.settle(60)
    expect(used(limiter)).toBe(60)
  })

  test('is settled once: further calls, and release, do nothing', () => {
    const limiter = world().process()
    const stream = limiter.acquire('ada', { cost: 10 })
    stream.settle(4)
    stream.settle(50)
    stream.release()
    expect(used(limiter)).toBe(4)
  })

  test('that is only released stays charged', () => {
    const limiter = world().process()
    {
      using stream = limiter.acquire('ada', { cost: 10 })
      expect(stream.allowed).toBe(true)
    }
    pass(2 * HOLD)
    expect(used(limiter)).toBe(10)
  })

  test('of a refused request is none', () => {
    const limiter = world().process()
    const refused = limiter.acquire('ada', { cost: 101 })
    refused.settle(50)
    refused.release()
    expect([refused.allowed, used(limiter)]).toEqual([false, 0])
  })

  test('of 0 is charged what it costs', () => {
    const limiter = world().process()
    limiter.acquire('ada', { cost: 0 }).settle(7)
    pass(2 * HOLD)
    expect(used(limiter)).toBe(7)
  })

  test('whose key was reset is charged when it is settled', () => {
    const limiter = world().process()
    const stream = limiter.acquire('ada', { cost: 10 })
    limiter.reset('ada')
    pass(HOLD)
    expect(used(limiter)).toBe(0)
    stream.settle(6)
    expect(used(limiter)).toBe(6)
  })

  test('of a wrong cost throws, and is still held', () => {
    const limiter = world().process()
    const stream = limiter.acquire('ada', { cost: 10 })
    expect(() => stream.settle(-1)).toThrow(expect.objectContaining({ option: 'cost' }))
    expect(() => stream.settle(1.5)).toThrow(expect.objectContaining({ option: 'cost' }))
    stream.settle(2)
    expect(used(limiter)).toBe(2)
  })
})

describe('beside other policies', () => {
  const policies = [
    { name: 'in-flight', concurrent: 2 },
    {
      name: 'tokens',
      limit: 100,
      window: '1d',
      reserve: true,
      hold: '10s',
      algorithm: 'token-bucket',
    },
    { name: 'month', limit: 1000, window: 'month' },
  ]
  const remaining = (limiter: Limiter<'sync'>) =>
    limiter.peek('ada').policies.map((each) => each.remaining)

  test('settle corrects all, and gives the slot back', () => {
    const limiter = world({ ...withoutPolicy, policies }).process()
    const stream = limiter.acquire('ada', { cost: 30 })
    expect(remaining(limiter)).toEqual([1, 70, 970])
    stream.settle(10)
    expect(remaining(limiter)).toEqual([2, 90, 990])
  })

  test('release after a wrong cost gives the slot back, and keeps the estimate', () => {
    const limiter = world({ ...withoutPolicy, policies }).process()
    const stream = limiter.acquire('ada', { cost: 30 })
    expect(() => stream.settle(Number.NaN)).toThrow(expect.objectContaining({ option: 'cost' }))
    stream.release()
    expect(remaining(limiter)).toEqual([2, 70, 970])
    expect(jest.getTimerCount()).toBe(0)
  })

  test('what it costs more is charged now, also if the window of the charge is over', () => {
    const minute = { name: 'minute', limit: 1000, window: '1m', algorithm: 'fixed-window' }
    const both = [policies[1], minute]
    const limiter = world({ ...withoutPolicy, policies: both }).process()
    const stream = limiter.acquire('ada', { cost: 10 })
    pass(120_000)
    stream.settle(25)
    expect(remaining(limiter)).toEqual([75, 985])
  })

  test('if its process dies, only what is reserved comes back', () => {
    const { process } = world({ ...withoutPolicy, policies })
    const [dying, another] = [process(), process()]
    dying.acquire('ada', { cost: 30 })
    dying.close()
    pass(HOLD)
    expect(remaining(another)).toEqual([2, 100, 970])
  })

  const withoutPolicy = {
    limit: undefined,
    window: undefined,
    algorithm: undefined,
    reserve: undefined,
  }
})

test('a settlement is published once, by its units, and no release without slots', () => {
  const heard = listen<SettleEvent>('sluice:settle')
  const limiter = world().process()
  limiter.acquire('ada', { cost: 10 }).settle(4)
  limiter.acquire('ada', { cost: 10 }).release()
  heard.stop()
  expect(heard.events.map(({ reason, policies }) => [reason, policies])).toEqual([
    ['cost', [{ name: 'default', unit: 'requests', units: -6 }]],
    ['cost', []],
  ])
})

test('a late settlement reaches a threshold', () => {
  const heard = listen<ThresholdEvent>('sluice:threshold')
  const limiter = world({ alertAt: [0.5] }).process()
  const stream = limiter.acquire('ada', { cost: 60 })
  clock.advance(HOLD)
  stream.settle(55)
  heard.stop()
  expect(heard.events.map(({ used: units }) => units)).toEqual([60, 55])
})

test('one that has cost exactly its estimate stays charged where keys are decided separately', async () => {
  const store = failingStore({ clock })
  const sharded = { ...store, open: (...of: Parameters<typeof store.open>) => open(...of) }
  const open = (...of: Parameters<typeof store.open>) => ({ ...store.open(...of), shard: () => 0 })
  const limiter = createLimiter({ ...DAY, store: sharded, deadline: 1000 })
  closing.push(limiter)
  await (await limiter.acquire('ada', { cost: 10 })).settle(10)
  pass(2 * HOLD)
  expect((await limiter.peek('ada')).remaining).toBe(90)
})

describe('while the store is down', () => {
  test('a settlement rejects; repeated, it charges no less than the cost', async () => {
    const store = failingStore({ clock })
    const limiter = createLimiter({ ...DAY, store, deadline: 1000 })
    closing.push(limiter)
    const stream = await limiter.acquire('ada', { cost: 10 })
    store.fail()
    await expect(stream.settle(6)).rejects.toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE' })
    store.recover()
    await stream.settle(6)
    await stream.settle(6)
    expect((await limiter.peek('ada')).remaining).toBe(94)
  })

  test('this process continues from what was settled, not from what was reserved', async () => {
    const store = failingStore({ clock })
    const limiter = createLimiter({ ...DAY, store, deadline: 1000 })
    closing.push(limiter)
    const streams = [
      await limiter.acquire('ada', { cost: 10 }),
      await limiter.acquire('ada', { cost: 20 }),
    ]
    await streams[0]?.settle(4)
    await streams[1]?.settle(25)
    store.fail()
    expect(await limiter.peek('ada')).toMatchObject({ source: 'local', remaining: 71 })
  })

  test('what this process has reserved by itself is settled by itself', async () => {
    const store = failingStore({ clock })
    const limiter = createLimiter({ ...DAY, store, deadline: 1000 })
    closing.push(limiter)
    store.fail()
    const [one, two] = [
      await limiter.acquire('ada', { cost: 30 }),
      await limiter.acquire('ada', { cost: 30 }),
    ]
    expect([one.source, two.remaining]).toEqual(['local', 40])
    await one.settle(10)
    await two.release()
    expect(await limiter.peek('ada')).toMatchObject({ source: 'local', remaining: 60 })
  })
})

describe('wrong options', () => {
  test.each<[object, string, string]>([
    [{ reserve: 'yes' }, 'SLUICE_OPTION_TYPE', 'reserve'],
    [{ hold: 10 }, 'SLUICE_OPTION_RANGE', 'hold'],
    [{ reserve: undefined, hold: '30s' }, 'SLUICE_OPTION_CONFLICT', 'hold'],
    [{ algorithm: 'sliding-log' }, 'SLUICE_OPTION_CONFLICT', 'reserve'],
    [{ algorithm: 'leaky-bucket' }, 'SLUICE_OPTION_CONFLICT', 'reserve'],
    [{ concurrent: 3 }, 'SLUICE_OPTION_CONFLICT', 'limit'],
  ])('%j', (options, code, option) => {
    expect(() => world(options).process()).toThrow(expect.objectContaining({ code, option }))
  })

  test('consume is for limiters without reservations', () => {
    expect(() => world().process().consume('ada')).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_CONFLICT', option: 'consume()' }),
    )
  })
})
