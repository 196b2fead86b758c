import fc from 'fast-check'
import type { AlgorithmParams } from '../algorithm.ts'
import type { AlgorithmName } from '../index.ts'
import type { Admitted } from './oracles.ts'
import { START } from './trace.ts'

/** A time: thousandths of the window, and ms. */
interface Pause {
  readonly share: number
  readonly ms: number
}

/** A request that is charged an estimate, and corrected to what it has turned out to cost. */
export interface Reservation {
  /** The time since the request before it. */
  readonly pause: Pause
  /** Units, or all that remain. */
  readonly estimate: number | 'rest'
  /** How long after the request, and its cost as it is known then, in thousandths of the estimate. */
  readonly corrections: readonly (Pause & { readonly actual: number })[]
}

/** One key of a store, on a clock that never steps back. */
export interface ReservedKey {
  /** Units that would be admitted now. */
  remaining(now: number): number | Promise<number>
  /** Whether it is admitted. */
  consume(now: number, cost: number): boolean | Promise<boolean>
  settle(now: number, delta: number, chargedAt: number): unknown
}

export function anyReservations(maxLength = 40): fc.Arbitrary<Reservation[]> {
  const share = fc.oneof(
    fc.constantFrom(0, 0, 1, 500, 999, 1000),
    fc.integer({ min: 0, max: 2500 }),
  )
  const ms = fc.integer({ min: 0, max: 2 })
  const actual = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1500 }))
  const reservation = fc.record({
    pause: fc.record({ share, ms }),
    estimate: fc.oneof(fc.constant('rest' as const), fc.integer({ min: 0, max: 14 })),
    corrections: fc.array(fc.record({ share, ms, actual }), { maxLength: 2 }),
  })
  return fc.array(reservation, { maxLength })
}

interface Charged {
  readonly at: number
  /** Units, as known now. */
  actual: number
  /** The lowest that `actual` has ever been: above it, it was unknown when others were admitted. */
  least: number
}

/**
 * Plays them on a key.
 * @returns what was admitted, at what was known throughout of its real cost
 */
export async function playReservations(
  key: ReservedKey,
  { windowMs }: AlgorithmParams,
  offset: number,
  reservations: readonly Reservation[],
): Promise<Admitted[]> {
  const admitted: Charged[] = []
  const due: { at: number; charge: Charged; actual: number }[] = []
  const after = (at: number, { share, ms }: Pause) =>
    at + Math.floor((share * windowMs) / 1000) + ms
  let now = START + offset
  for (const { pause, estimate, corrections } of reservations) {
    now = after(now, pause)
    await settleUntil(now)
    const cost = estimate === 'rest' ? await key.remaining(now) : estimate
    if (!(await key.consume(now, cost))) continue
    const charge = { at: now, actual: cost, least: cost }
    admitted.push(charge)
    for (const { actual, ...later } of corrections) {
      due.push({ at: after(now, later), charge, actual: Math.floor((actual * cost) / 1000) })
    }
  }
  await settleUntil(Infinity)
  return admitted.map(({ at, least }) => ({ at, cost: least }))

  async function settleUntil(until: number) {
    due.sort((one, other) => one.at - other.at)
    for (let next = due[0]; next !== undefined && next.at <= until; next = due[0]) {
      due.shift()
      const { at, charge, actual } = next
      await key.settle(at, actual - charge.actual, charge.at)
      charge.actual = actual
      charge.least = Math.min(charge.least, actual)
    }
  }
}

/** The most units that the algorithm admits, from one moment to another `ms` later. */
function boundOf(name: AlgorithmName, params: AlgorithmParams, ms: number): number {
  const { limit, windowMs, burst = limit, maxDelayMs = 0 } = params
  const drained = (limit * ms) / windowMs
  if (name === 'token-bucket') return burst + drained
  if (name === 'leaky-bucket') return 1 + (limit * maxDelayMs) / windowMs + drained
  return (name === 'sliding-log' ? 1 : 2) * limit * (Math.floor(ms / windowMs) + 1)
}

/**
 * How many units more than the algorithm's bound were admitted in the worst span: 0 or
 * less where the bound holds.
 */
export function excess(
  name: AlgorithmName,
  params: AlgorithmParams,
  admitted: readonly Admitted[],
): number {
  let most = -Infinity
  for (const [i, first] of admitted.entries()) {
    let total = 0
    for (const { at, cost } of admitted.slice(i)) {
      total += cost
      most = Math.max(most, total - boundOf(name, params, at - first.at))
    }
  }
  return most
}
