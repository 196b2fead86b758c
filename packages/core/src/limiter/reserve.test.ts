import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { memoryStore, type SettleEvent } from '../index.ts'
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

  test('is settled once: further calls, and release, do nothing', () => {
    const limiter = world().process()
    const stream = limiter.acquire('ada', { cost: 10 })
    stream.settle(4)
    stream.settle(50)
    stream.release()
    expect(used(limiter)).toBe(4)
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

  test('settle corrects nothing of a dry run that was not charged', () => {
    const dryRun = { name: 'new', limit: 20, window: 'month', dryRun: true }
    const limiter = world({ ...withoutPolicy, policies: [...policies, dryRun] }).process()
    const stream = limiter.acquire('ada', { cost: 30 })
    expect(remaining(limiter)).toEqual([1, 70, 970, 20])
    stream.settle(40)
    expect(remaining(limiter)).toEqual([2, 60, 960, 20])
  })

  test('release after a wrong cost gives the slot back, and keeps the estimate', () => {
    const limiter = world({ ...withoutPolicy, policies }).process()
    const stream = limiter.acquire('ada', { cost: 30 })
    expect(() => stream.settle(Number.NaN)).toThrow(expect.objectContaining({ option: 'cost' }))
    stream.release()
    expect(remaining(limiter)).toEqual([2, 70, 970])
    expect(jest.getTimerCount()).toBe(0)
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

  test('a settlement rejects; a release then charges what it was called with', async () => {
    const store = failingStore({ clock })
    const limiter = createLimiter({ ...DAY, store, deadline: 1000 })
    closing.push(limiter)
    const stream = await limiter.acquire('ada', { cost: 10 })
    store.fail()
    await expect(stream.settle(15)).rejects.toThrow()
    store.recover()
    await stream.release()
    expect((await limiter.peek('ada')).remaining).toBe(85)
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
