import { describe, expect, test } from '@jest/globals'
import { type Charge, memoryStore, type StoreResult } from '@sluice/core'
import { algorithms, concurrency, reserved } from '@sluice/core/algorithms'
import type { CompiledLimit } from '@sluice/core/store'
import { manualClock } from '@sluice/core/testing'
import { crowdedSuite } from '../../core/src/algorithms/testing/crowded-parity.ts'
import { transactionalStore } from './transactional-store.ts'

/**
 * Keeps bytes, and counts them.
 *
 * @param forgets whether it keeps them no longer than it must: then what has ended can't apply again on a clock that
 *   steps back, as it does in memory until that is swept
 */
function mapStore(clock: () => number, forgets = true) {
  const rows = new Map<string, { state: Uint8Array; until: number }>()
  const counts = { transactions: 0, read: 0, written: 0 }
  const store = transactionalStore({
    clock,
    async transact(keys, decide) {
      const now = clock()
      if (forgets) for (const [key, { until }] of rows) if (until <= now) rows.delete(key)
      const states = keys.map((key) => rows.get(key)?.state)
      const { changes, value } = decide(states, now)
      counts.transactions += 1
      for (const state of states) counts.read += state?.length ?? 0
      for (const { key, state, ttlMs } of changes) {
        if (!keys.includes(key)) throw new Error(`${key} is not of the transaction`)
        counts.written += state?.length ?? 0
        if (state === undefined) rows.delete(key)
        else rows.set(key, { state, until: now + ttlMs })
      }
      return value
    },
    async list({ after, before, count }) {
      const keys = [...rows.keys()].filter((key) => key > after && key < before).sort()
      const listed = keys.slice(0, count).map((key) => ({ key, state: rows.get(key)?.state }))
      return { keys: listed, now: clock() }
    },
  })
  const took = () => {
    const took = { ...counts }
    Object.assign(counts, { transactions: 0, read: 0, written: 0 })
    return took
  }
  return { store, rows, took }
}

crowdedSuite('a store of bytes', (clock) => mapStore(clock, false).store, 60)

const HOUR = 3_600_000
const slots = concurrency.compile({ limit: 1000, windowMs: HOUR })
const log = algorithms['sliding-log'].compile({ limit: 10_000, windowMs: HOUR })
const window = { limit: 1e9, windowMs: 24 * HOUR, holdMs: HOUR }
const reservations = reserved(algorithms['fixed-window']).compile(window)

/** One key of a store, and what is done with it. */
function keyOf(limit: CompiledLimit) {
  const clock = manualClock(1_800_000_000_000)
  const { store, rows, took } = mapStore(clock)
  const { algorithm } = limit
  const windowMs = algorithm.holdsSlots ? 0 : limit.windowMs
  const name = `${algorithm.name}:${windowMs}:crowd`
  const open = () => store.open([{ name, algorithm }], 'sluice')
  const ledger = open()
  const charge = (slot: number, owner?: number): Charge => {
    return { key: 'client', limit, cost: 1, claim: [slot, owner ?? 0] }
  }
  return {
    clock,
    rows,
    store,
    took,
    open,
    async decide(slot: number, owner?: number) {
      clock.advance(1)
      const [result] = await ledger.decide([[charge(slot, owner)]])
      return result as StoreResult
    },
    renew: (slot: number) => ledger.change({ kind: 'renew', requests: [[charge(slot)]] }),
    settle(slot: number, owner?: number) {
      const ended = { ...charge(slot, owner), cost: -1, claim: [slot, owner ?? 0, 1] }
      return ledger.change({ kind: 'settle', charges: [ended] })
    },
  }
}

const numberOf = (i: number) => i * 7919 * 2 ** 20

describe.each([
  ['slots', slots, 900, 14_000],
  ['reservations', reservations, 1900, 46_000],
  ['entries of a log', log, 9000, 40_000],
])('a key with many %s', (_, limit, count, mostBytes) => {
  test('costs each call one transaction, and no more bytes than that takes', async () => {
    const { decide, renew, settle, took, rows } = keyOf(limit)
    for (let i = 1; i <= count; i += 1) await decide(numberOf(i), 1e12 + (i % 50))
    const size = [...rows.values()].reduce((sum, { state }) => sum + state.length, 0)
    expect(size).toBeGreaterThan(7000)
    await decide(numberOf(count + 1))
    took()
    const acts = [decide, ...(limit === log ? [] : [renew]), settle]
    for (const act of acts) {
      await act(numberOf(count + 1))
      const { transactions, read, written } = took()
      expect(transactions).toBe(1)
      expect(Math.max(read, written)).toBeLessThan(mostBytes)
    }
  })

  test('gets on in another process with few transactions', async () => {
    const { decide, took, open } = keyOf(limit)
    for (let i = 1; i <= count; i += 1) await decide(numberOf(i), i)
    took()
    const other = open()
    const charges = [1, 2, 3].map((i) => [
      { key: 'client', limit, cost: 1, claim: [numberOf(count + i), i] },
    ])
    const results = (await other.decide(charges)) as StoreResult[]
    expect(results.map(({ admitted }) => admitted)).toEqual([true, true, true])
    expect(took().transactions).toBeLessThan(4)
  })

  if (limit === log) return
  test('leaves nothing when all have ended, again and again', async () => {
    const { decide, settle, rows, took } = keyOf(limit)
    for (let round = 0; round < 2; round += 1) {
      const from = round * count
      for (let i = 1; i <= count; i += 1)
        expect((await decide(numberOf(from + i), i)).admitted).toBe(true)
      for (let i = count; i > 0; i -= 1) await settle(numberOf(from + i), i)
    }
    const ofClient = [...rows].filter(([key]) => key.includes('{client}'))
    expect(ofClient.filter(([, { state }]) => state.length > 32)).toEqual([])
    expect(took().transactions).toBeLessThan(4 * count + 20)
  })
})

test.each([10, 1000])(
  'a log counts what it holds after a clock has stepped back by %i ms',
  async (ms) => {
    const limit = algorithms['sliding-log'].compile({ limit: 10_000, windowMs: 300 })
    const { clock, decide } = keyOf(limit)
    const memory = memoryStore({ clock })
    const { algorithm } = limit
    const other = memory.open([{ name: 'log', algorithm }], 'sluice')
    for (let i = 0; i < 700; i += 1) {
      // Of the first block, some entries have left the window then.
      if (i === 500) clock.advance(-ms)
      const { outcomes } = await decide(i)
      const [expected] = other.decide([[{ key: 'client', limit, cost: 1 }]]) as StoreResult[]
      expect([i, outcomes[0]?.remaining]).toEqual([i, expected?.outcomes[0]?.remaining])
    }
    memory.close()
  },
)

test('no owner has more of 2,000 reservations than are free, exactly', async () => {
  const { decide, settle } = keyOf(reservations)
  for (let i = 1; i <= 1200; i += 1) await decide(numberOf(i), 1e12 + (i % 3))
  let own = 0
  while ((await decide(numberOf(2000 + own), 7)).admitted) own += 1
  expect(own).toBe(400)
  await settle(numberOf(2000))
  expect((await decide(numberOf(5000), 7)).admitted).toBe(true)
  expect((await decide(numberOf(5001), 7)).admitted).toBe(false)
  expect((await decide(numberOf(5002), 8)).admitted).toBe(true)
})

test('a key with many reservations is listed once, with what has ended taken off', async () => {
  const { decide, store, clock } = keyOf(reservations)
  for (let i = 1; i <= 300; i += 1) await decide(numberOf(i), i)
  clock.advance(HOUR - 150)
  const found = []
  const unreadable: string[] = []
  const onProgress = (progress: { unreadable: readonly string[] }) =>
    unreadable.push(...progress.unreadable)
  for await (const { key, used } of store.inspect({ onProgress })) found.push([key, used])
  expect([found, unreadable]).toEqual([[['client', 150]], []])
})
