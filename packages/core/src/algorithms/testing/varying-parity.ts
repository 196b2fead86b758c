import { expect } from '@jest/globals'
import fc from 'fast-check'
import { type Charge, memoryStore, type StoreResult } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'
import type { CompiledLimit } from '../algorithm.ts'
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
const anyPass = fc.constantFrom(0, 0, 0, 1, 35_036_750, 157_788_000_000, -35_036_750)
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

/** @throws if the store differs from memory. Requests of one moment are decided in one call. */
export async function expectVaryingParity(
  open: Open,
  { keyspaces, requests }: Varying,
): Promise<void> {
  scenarios += 1
  const clock = manualClock(START)
  const memory = memoryStore({ clock })
  const known = memory.open(keyspaces, 'varying')
  const expected = requests.map((request) => {
    clock.advance(request[PASS])
    return copy(known.decide([chargesOf(request)])[0] as StoreResult)
  })
  memory.close()
  clock.set(START)
  const store = open(clock)
  const prefix = `varying:${process.pid}:${scenarios}`
  const ledger = store.open(keyspaces, prefix)
  const decided: StoreResult[] = []
  for (let next = 0; next < requests.length; next = decided.length) {
    clock.advance(requests[next]?.[PASS] as number)
    const later = requests.findIndex((request, i) => i > next && request[PASS] !== 0)
    const calls = requests.slice(next, later < 0 ? undefined : later).map(chargesOf)
    decided.push(...((await ledger.decide(calls)) as StoreResult[]).map(copy))
  }
  expect(decided).toEqual(expected)
  store.close()
}

/** Where a request has the ms that pass before it. */
const PASS = 3

function chargesOf([limits, cost, other]: Varying['requests'][number]): readonly Charge[] {
  return [
    { key: 'a', limit: limits[0] as CompiledLimit, cost },
    { key: 'a', limit: limits[1] as CompiledLimit, cost: other },
  ]
}

/** Copies a result: a synchronous one is valid only until the next decision. */
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
