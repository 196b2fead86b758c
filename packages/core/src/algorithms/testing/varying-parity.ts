import { expect } from '@jest/globals'
import fc from 'fast-check'
import { type Ledger, memoryStore, type StoreResult } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'
import { algorithms } from '../index.ts'
import type { Open } from './store-replay.ts'
import { START, TEN_YEARS } from './trace.ts'

/** Two policies of a limiter, whose limits vary. */
const pairs = [
  ['sliding-window', 'fixed-window'],
  ['token-bucket', 'leaky-bucket'],
  ['sliding-log', 'token-bucket'],
] as const
const keyspacesOf = (pair: (typeof pairs)[number]) =>
  pair.map((name) => ({ name, algorithm: algorithms[name] }))
const limitsOf = (pair: (typeof pairs)[number], limit: number) =>
  keyspacesOf(pair).map(({ algorithm }) => {
    const most = Math.min(limit, algorithm.maxLimit)
    return algorithm.compile({ limit: most, windowMs: TEN_YEARS, maxDelayMs: TEN_YEARS })
  })
const anyCost = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(5e11))
const anyPass = fc.constantFrom(0, 0, 1, 35_036_750, 157_788_000_000, -35_036_750)
/** Requests with limits of their own, of one key, and the ms that pass before each. */
export const anyVaryingRequests = fc.constantFrom(...pairs).chain((pair) => {
  const limits = [0, 3, 5, 7, 9_999, 9e11, 1e12].map((limit) => limitsOf(pair, limit))
  const request = fc.tuple(fc.constantFrom(...limits), anyCost, anyCost, anyPass)
  return fc.record({
    keyspaces: fc.constant(keyspacesOf(pair)),
    requests: fc.array(request, { maxLength: 30 }),
  })
})
type Varying = typeof anyVaryingRequests extends fc.Arbitrary<infer T> ? T : never

let scenarios = 0

/** @throws if the store differs from memory */
export async function expectVaryingParity(
  open: Open,
  { keyspaces, requests }: Varying,
): Promise<void> {
  scenarios += 1
  const clock = manualClock(START)
  const consume = (ledger: Ledger, [limits, cost, other, pass]: Varying['requests'][number]) => {
    clock.advance(pass)
    return ledger.consume([
      { key: 'a', limit: limits[0]!, cost },
      { key: 'a', limit: limits[1]!, cost: other },
    ])
  }
  const memory = memoryStore({ clock })
  const known = memory.open({ policies: keyspaces }, 'varying')
  const expected = requests.map((request) => copy(consume(known, request) as StoreResult))
  memory.close()
  clock.set(START)
  const store = open(clock)
  const ledger = store.open({ policies: keyspaces }, `varying:${process.pid}:${scenarios}`)
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
