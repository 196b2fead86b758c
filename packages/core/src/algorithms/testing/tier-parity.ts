import { expect } from '@jest/globals'
import fc from 'fast-check'
import { type Ledger, memoryStore, type StoreResult } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'
import { algorithms } from '../index.ts'
import type { Open } from './store-replay.ts'
import { START } from './trace.ts'

const keyspaces = (['sliding-window', 'fixed-window'] as const).map((name) => ({
  name,
  algorithm: algorithms[name],
}))
const tiers = [0, 3, 5, 1e12].map((limit) =>
  keyspaces.map(({ algorithm }) => algorithm.compile({ limit, windowMs: 315_576_000_000 })),
)
const anyCost = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(5e11))
const anyPass = fc.constantFrom(0, 0, 1, 35_036_750, 157_788_000_000, -35_036_750)
/** Requests of clients with limits of their own, and the ms that pass before each. */
export const anyTierRequests = fc.array(
  fc.tuple(fc.constantFrom(...tiers), anyCost, anyCost, anyPass),
  { maxLength: 30 },
)
type Requests = typeof anyTierRequests extends fc.Arbitrary<infer T> ? T : never

let scenarios = 0

/** @throws if the store differs from memory */
export async function expectTierParity(open: Open, requests: Requests): Promise<void> {
  scenarios += 1
  const clock = manualClock(START)
  const consume = (ledger: Ledger, [limits, cost, other, pass]: Requests[number]) => {
    clock.advance(pass)
    return ledger.consume([
      { key: 'a', limit: limits[0]!, cost },
      { key: 'a', limit: limits[1]!, cost: other },
    ])
  }
  const memory = memoryStore({ clock })
  const known = memory.open({ policies: keyspaces }, 'tiers')
  const expected = requests.map((request) => copy(consume(known, request) as StoreResult))
  memory.close()
  clock.set(START)
  const store = open(clock)
  const ledger = store.open({ policies: keyspaces }, `tiers:${process.pid}:${scenarios}`)
  for (const [i, request] of requests.entries()) {
    expect(copy((await consume(ledger, request)) as StoreResult)).toEqual(expected[i])
  }
  store.close()
}

/** What every store says. A synchronous result is valid until the next one. */
function copy({ admitted, at, source, outcomes }: StoreResult): StoreResult {
  const copied = outcomes.map(
    ({ admitted, remaining, resetMs, retryAfterMs, effectiveMs, delayMs }) => ({
      admitted,
      remaining,
      resetMs,
      retryAfterMs,
      effectiveMs,
      delayMs,
    }),
  )
  return { admitted, at, source, outcomes: copied }
}
