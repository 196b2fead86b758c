import fc from 'fast-check'
import type { Charge } from '../../index.ts'
import type { CompiledLimit } from '../algorithm.ts'
import { algorithms } from '../index.ts'
import { expectAlike, factsOf, type Open } from './alike.ts'
import { TEN_YEARS } from './trace.ts'

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

/** @throws if the store differs from memory. Requests of one moment are decided in one call. */
export function expectVaryingParity(open: Open, { keyspaces, requests }: Varying): Promise<void> {
  return expectAlike(open, async (store, clock, prefix) => {
    const ledger = store.open(keyspaces, prefix)
    const said: unknown[] = []
    for (let next = 0; next < requests.length; next = said.length) {
      clock.advance(requests[next]?.[PASS] as number)
      const later = requests.findIndex((request, i) => i > next && request[PASS] !== 0)
      const calls = requests.slice(next, later < 0 ? undefined : later).map(chargesOf)
      said.push(...(await ledger.decide(calls)).map(factsOf))
    }
    return said
  })
}

/** Where a request has the ms that pass before it. */
const PASS = 3

function chargesOf([limits, cost, other]: Varying['requests'][number]): readonly Charge[] {
  return [
    { key: 'a', limit: limits[0] as CompiledLimit, cost },
    { key: 'a', limit: limits[1] as CompiledLimit, cost: other },
  ]
}
