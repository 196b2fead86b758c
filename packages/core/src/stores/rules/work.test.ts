import { describe, expect, test } from '@jest/globals'
import { transactionalStore } from '@sluice/transactional'
import { formOf, KeyState } from '../../algorithms/algorithm.ts'
import { concurrency } from '../../algorithms/concurrency/concurrency.ts'
import { algorithms } from '../../algorithms/index.ts'
import { memoryStore } from '../memory/memory-store.ts'
import type { Charge, Store } from '../store.ts'
import { applyOwn } from './own-terms.ts'
import { isTooMuch, renewalCalls, workOf } from './work.ts'

const slotsOf = (limit: number) => concurrency.compile({ limit, windowMs: 1000 })
const held = (count: number, limit: number, keyOf: (slot: number) => string): Charge[][] => {
  const compiled = slotsOf(limit)
  return Array.from({ length: count }, (_, slot) => {
    return [{ key: keyOf(slot + 1), limit: compiled, cost: 1, claim: [slot + 1] }]
  })
}

describe('the work of a call', () => {
  test('grows with what has to be read: a full log is nearly a call of its own', () => {
    const workWith = (name: 'sliding-log' | 'sliding-window', limit: number) => {
      const compiled = algorithms[name].compile({ limit, windowMs: 1000 })
      return workOf([{ limit: compiled }])
    }
    expect(workWith('sliding-window', 1e12)).toBe(1)
    expect(workWith('sliding-log', 64)).toBe(2)
    expect(isTooMuch(workWith('sliding-log', 10_000))).toBe(false)
    expect(isTooMuch(2 * workWith('sliding-log', 10_000))).toBe(true)
  })

  test('is that of the largest limit of their own that clients were seen with, in any form of a limit', () => {
    const limit = algorithms['sliding-log'].compile({ limit: 64, windowMs: 1000 })
    for (const [units, work] of [
      [10, 2],
      [640, 11],
      [128, 11],
    ] as const) {
      const override = { limit: units, burst: undefined, maxDelayMs: undefined, until: Infinity }
      applyOwn(
        Object.assign(new KeyState(), { terms: { override, grants: [], blockedUntil: 0 } }),
        formOf(limit, false),
        0,
      )
      expect(workOf([{ limit }])).toBe(work)
    }
  })
})

describe('renewals', () => {
  test('of one key are one call, up to some hundred', () => {
    expect(renewalCalls(held(250, 1000, () => 'ada'))).toHaveLength(1)
    expect(renewalCalls(held(1000, 1000, () => 'ada'))).toHaveLength(4)
  })

  test('of many keys are several calls, in which each request is once and no key is twice', () => {
    const requests = held(1000, 1000, (slot) => `key ${slot % 100}`)
    const calls = renewalCalls(requests)
    expect(calls.length).toBeGreaterThan(5)
    expect(new Set(calls.flat())).toEqual(new Set(requests))
    const keysOf = (call: (typeof calls)[number]) => new Set(call.map(([charge]) => charge?.key))
    expect(calls.flatMap((call) => [...keysOf(call)])).toHaveLength(100)
  })

  test('of nothing are no call', () => {
    expect(renewalCalls([])).toEqual([])
  })
})

/** Answers in the same turn. */
function inMap(): Store {
  const values = new Map<string, Uint8Array>()
  return transactionalStore({
    async transact(keys, decide) {
      const { changes, value } = decide(
        keys.map((key) => values.get(key)),
        0,
      )
      for (const { key, state } of changes) state && values.set(key, state)
      return value
    },
  })
}

describe('the renewal of all slots of one key takes time in proportion to them', () => {
  test.each<[string, () => Store]>([
    ['memory', memoryStore],
    ['transactions', inMap],
  ])('%s', async (_, create) => {
    /** Some runs, µs of CPU time, which other processes of the machine do not lengthen: at least what can be measured. */
    const timeOf = async (count: number) => {
      const ledger = create().open([{ name: 'slots', algorithm: concurrency }], 'renewals')
      const requests = held(count, count, () => 'ada')
      const before = process.cpuUsage()
      for (let run = 0; run < 20; run += 1) await ledger.change({ kind: 'renew', requests })
      return Math.max(5000, process.cpuUsage(before).user)
    }
    await timeOf(100)
    // Quadratic, it would be 64 times. What else takes time, such as the collector of garbage, does not do so each time.
    let least = Infinity
    for (let attempt = 0; attempt < 5 && least >= 24; attempt += 1)
      least = Math.min(least, (await timeOf(4000)) / (await timeOf(500)))
    expect(least).toBeLessThan(24)
  })
})
