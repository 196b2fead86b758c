import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { createLimiter, type Decision, StoreError } from '@sluice/core'
import { algorithms } from '@sluice/core/algorithms'
import { compareAndSwapStore, type Versioned } from './compare-and-swap-store.ts'

const warned: unknown[] = []

beforeEach(() => {
  warned.length = 0
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((_: string, { code }: { code: string }) => warned.push(code)) as never)
})
afterEach(() => {
  jest.useRealTimers()
  jest.restoreAllMocks()
})

/** Each swap finds that another process was faster. */
function contended() {
  return compareAndSwapStore({
    now: () => 1_800_000_000_000,
    read: async (keys) => keys.map(() => undefined),
    swap: async () => false,
  })
}

it('contention ends in a StoreError with its own code, which the limiter wraps', async () => {
  const limiter = createLimiter({ store: contended(), limit: 5, window: '1m' })
  const error = await Promise.resolve(limiter.block('client', '1m')).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(StoreError)
  expect(error).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE', operation: 'block' })
  expect(error.cause).toBeInstanceOf(StoreError)
  expect(error.cause).toMatchObject({ code: 'SLUICE_STORE_CONTENTION', operation: 'transact' })
  limiter.close()
})

it('contention is not a set-up error: one failure does not open the breaker', async () => {
  const limiter = createLimiter({ store: contended(), limit: 5, window: '1m' })
  expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'local' })
  expect(warned).toEqual([])
  limiter.close()
})

it('a transaction that never ends holds those of its key up for its deadline, and no others', async () => {
  let hangs = true
  const store = compareAndSwapStore({
    now: () => 1_800_000_000_000,
    read: (keys) => (hangs ? new Promise(() => {}) : Promise.resolve(keys.map(() => undefined))),
    swap: async () => true,
  })
  const algorithm = algorithms['fixed-window']
  const limit = algorithm.compile({ limit: 5, windowMs: 60_000 })
  const ledger = store.open([{ name: 'p', algorithm }], 'hanging', 50)
  const ask = (key: string) => ledger.decide([[{ key, limit, cost: 1 }]])
  void ask('ada')
  hangs = false
  let isOver = false
  const next = ask('ada').finally(() => {
    isOver = true
  })
  const settled = Promise.allSettled([next])
  expect(await ask('bob')).toMatchObject([{ admitted: true }])
  expect(isOver).toBe(false)
  // Its own deadline ends in the same turn: it is rejected, or decided.
  await settled
  expect(await ask('ada')).toMatchObject([{ admitted: true }])
})

it('transactions of one moment that share a key happen in the order in which they are called', async () => {
  const rows = new Map<string, Versioned>()
  const store = compareAndSwapStore({
    now: () => 1_800_000_000_000,
    read: async (keys) => keys.map((key) => rows.get(key)),
    async swap(changes) {
      for (const { key, state } of changes) if (state) rows.set(key, { state, version: {} })
      return true
    },
  })
  const limiter = createLimiter({ store, limit: 5, window: '1h', algorithm: 'fixed-window' })
  const calls = [limiter.consume('ada'), limiter.peek('ada'), limiter.settle('ada', 1)]
  const [consumed, peeked] = (await Promise.all(calls)) as Decision[]
  expect([consumed?.remaining, peeked?.remaining]).toEqual([4, 4])
  expect((await limiter.peek('ada')).remaining).toBe(3)
  limiter.close()
})

it('one that is given up while it waits for another of its key writes nothing', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] })
  let release = () => {}
  const written: string[] = []
  const store = compareAndSwapStore({
    now: () => 1_800_000_000_000,
    read: async (keys) => {
      await new Promise<void>((resolve) => (release = resolve))
      return keys.map(() => undefined)
    },
    async swap(changes) {
      written.push(...changes.map(({ key }) => key))
      return true
    },
  })
  const algorithm = algorithms['fixed-window']
  const limit = algorithm.compile({ limit: 5, windowMs: 60_000 })
  const ask = (deadlineMs: number) =>
    store
      .open([{ name: 'p', algorithm }], 'waiting', deadlineMs)
      .decide([[{ key: 'ada', limit, cost: 1 }]])
  const first = ask(60_000)
  const second = expect(ask(50)).rejects.toThrow('no answer within 50 ms')
  await jest.advanceTimersByTimeAsync(100)
  await new Promise(setImmediate)
  release()
  await Promise.all([first, second])
  expect(written).toEqual(['waiting:{ada}:p'])
})

it('an attempt for which another process was faster leaves neither its time nor what it would tell', async () => {
  let now = 1_800_000_000_000
  let isLate = true
  const store = compareAndSwapStore({
    now: () => now,
    read: async (keys) => keys.map(() => undefined),
    async swap() {
      isLate = !isLate
      now += 1000
      return isLate
    },
  })
  const algorithm = algorithms['fixed-window']
  const limit = algorithm.compile({ limit: 5, windowMs: 60_000 })
  const ledger = store.open([{ name: 'p', algorithm }], 'late')
  const charges = [{ key: 'ada', limit, cost: 1 }]
  expect(await ledger.decide([charges])).toMatchObject([{ at: 1_800_000_001_000 }])
  const onIncrease = jest.fn()
  await ledger.change({ kind: 'settle', charges }, onIncrease)
  expect(onIncrease.mock.calls).toMatchObject([[{ before: 5, remaining: 4 }]])
})
