import fc from 'fast-check'
import type { AlgorithmParams, Outcome } from '../algorithm.ts'
import type { AlgorithmName } from '../index.ts'
import { algorithms } from '../index.ts'
import { SoleKey } from './sole-key.ts'
import { START } from './trace.ts'

/** How long after the step before: a share of the window and some ms, or as long as that said. */
type Pause = { readonly share: number; readonly ms: number } | 'as stated'

export interface Move {
  readonly pause: Pause
  readonly cost: number
}

/** Parameters with which small numbers meet every edge, and now and then large ones. */
export function anyParams(algorithm: AlgorithmName): fc.Arbitrary<AlgorithmParams> {
  const limit = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 12 }) },
    { weight: 1, arbitrary: fc.integer({ min: 13, max: 100_000 }) },
  )
  const windowMs = fc.oneof(
    fc.constantFrom(1, 2, 3, 7, 100, 1000, 60_000),
    fc.integer({ min: 1, max: 5000 }),
    fc.integer({ min: 5001, max: 100_000_000 }),
  )
  if (algorithm === 'token-bucket') return fc.record({ limit, windowMs, burst: limit })
  if (algorithm !== 'leaky-bucket') return fc.record({ limit, windowMs })
  const share = fc.integer({ min: 0, max: 2000 })
  return fc
    .record({ limit, windowMs, share })
    .map((drawn) => ({ ...drawn, maxDelayMs: Math.floor((drawn.share * drawn.windowMs) / 1000) }))
}

/** Requests one after another, on a clock that never steps back. */
export function anyTraffic(maxLength = 30): fc.Arbitrary<Move[]> {
  const share = fc.oneof(
    fc.constantFrom(0, 0, 0, 1, 500, 1000, 1000, 2000),
    fc.integer({ min: 0, max: 2500 }),
  )
  const pause = fc.oneof(
    { weight: 4, arbitrary: fc.record({ share, ms: fc.integer({ min: -1, max: 1 }) }) },
    { weight: 1, arbitrary: fc.constant('as stated' as const) },
  )
  const cost = fc.oneof(
    { weight: 5, arbitrary: fc.constant(1) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 14 }) },
  )
  return fc.array(fc.record({ pause, cost }), { maxLength })
}

/** Where in its window the traffic begins, ms. */
export const anyOffset = fc.integer({ min: 0, max: 100_000_000 })

export function newKey(algorithm: AlgorithmName, params: AlgorithmParams): SoleKey {
  return new SoleKey(algorithms[algorithm].compile(params))
}

/** When the next request of `move` comes, after one at `now` that met `outcome`. */
function after(
  now: number,
  move: Move,
  params: AlgorithmParams,
  outcome: Outcome | undefined,
): number {
  if (move.pause === 'as stated')
    return Number.isFinite(outcome?.effectiveMs) ? now + outcome!.effectiveMs : now
  const { share, ms } = move.pause
  return now + Math.max(0, Math.floor((share * params.windowMs) / 1000) + ms)
}

/** Sends the traffic to the key; returns what each request met, and the time of the last one. */
export function send(
  key: SoleKey,
  params: AlgorithmParams,
  offset: number,
  traffic: readonly Move[],
) {
  const met: { at: number; cost: number; outcome: Outcome }[] = []
  let now = START + offset
  for (const move of traffic) {
    now = after(now, move, params, met.at(-1)?.outcome)
    met.push({ at: now, cost: move.cost, outcome: key.consume(now, move.cost) })
  }
  return { met, now }
}
