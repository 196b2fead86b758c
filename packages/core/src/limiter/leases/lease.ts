import type { Outcome } from '../../algorithms/algorithm.ts'
import type { Charge, Origin, SettleChange, StoreResult } from '../../stores/store.ts'

/** Units of a key, or of the keys of several policies, that the store has charged and this process may admit. */
export class Lease {
  /** When it ends, ms on the clock by which it was asked for. */
  readonly until: number
  readonly #charges: readonly Charge[]
  /** What is left of each charge, units. */
  readonly #unused: number[]
  /** What the store had left for each charge when it answered, units; less what was charged more since. */
  readonly #remaining: number[]
  readonly #outcomes: readonly Outcome[]
  /** When the store charged it. */
  readonly #at: number
  readonly #origins: readonly Origin[]

  /**
   * @param charges what was charged
   * @param result the store's answer, an admission
   * @param sentAt when the store was asked: the lease is counted from here, so that it never ends later than the
   *   store's clock would end it
   */
  constructor(charges: readonly Charge[], result: StoreResult, sentAt: number, leaseMs: number) {
    const { at, source, outcomes } = result
    this.#charges = charges
    this.#outcomes = outcomes
    this.#at = at
    this.#origins = result.origins ?? charges.map(() => ({ at, source }))
    this.#unused = charges.map(({ cost }) => cost)
    this.#remaining = outcomes.map(({ remaining }) => remaining)
    const ends = charges.map((charge, i) =>
      validMs(charge, outcomes[i] as Outcome, (this.#origins[i] as Origin).at),
    )
    this.until = sentAt + Math.min(leaseMs, ...ends)
  }

  /** Admits a request from what is left; undefined if that is not enough, or of another limit. */
  use(charges: readonly Charge[], now: number): StoreResult | undefined {
    if (now >= this.until) return undefined
    for (let i = 0; i < charges.length; i += 1) {
      const { cost, limit } = charges[i] as Charge
      // A cost of 0 is admitted while one unit remains.
      if (Math.max(cost, 1) > (this.#unused[i] as number)) return undefined
      if (limit !== this.#charges[i]?.limit) return undefined
    }
    const outcomes: Outcome[] = []
    for (let i = 0; i < charges.length; i += 1) {
      const { resetMs, effectiveMs, own } = this.#outcomes[i] as Outcome
      this.#unused[i] = (this.#unused[i] as number) - (charges[i] as Charge).cost
      outcomes.push({
        admitted: true,
        remaining: this.#left(i),
        resetMs,
        retryAfterMs: 0,
        effectiveMs,
        delayMs: 0,
        own,
      })
    }
    return { admitted: true, at: this.#at, source: 'lease', outcomes, origins: this.#origins }
  }

  /** What the store previews for a request, with what is left of the lease. */
  preview(charges: readonly Charge[], result: StoreResult): StoreResult {
    const outcomes = result.outcomes.map((outcome, i) => {
      const remaining = outcome.remaining + (this.#unused[i] as number)
      const isEnough = remaining >= Math.max(1, (charges[i] as Charge).cost)
      return isEnough
        ? { ...outcome, admitted: true, remaining, retryAfterMs: 0 }
        : { ...outcome, remaining }
    })
    return { ...result, admitted: outcomes.every(({ admitted }) => admitted), outcomes }
  }

  /** Learns of other charges that the store has made, and how much was left after them at most. */
  charged(remaining: readonly number[]): void {
    for (const [i, units] of remaining.entries())
      this.#remaining[i] = Math.min(units, this.#remaining[i] as number)
  }

  /** Charges that a settlement has raised are no longer left. */
  settled(charges: readonly Charge[]): void {
    for (const [i, { cost }] of charges.entries())
      if (cost > 0) this.#remaining[i] = Math.max(0, (this.#remaining[i] as number) - cost)
  }

  /** The settlements that give back what is left: one for each moment at which parts of it were charged. */
  giveBack(): SettleChange[] {
    const times = new Set(this.#origins.map(({ at }) => at))
    return Array.from(times, (chargedAt): SettleChange => {
      const charges = this.#charges.map(({ key, limit }, i) => {
        const isOfThen = this.#origins[i]?.at === chargedAt
        return { key, limit, cost: isOfThen ? 0 - (this.#unused[i] as number) : 0 }
      })
      return { kind: 'settle', charges, chargedAt }
    }).filter(({ charges }) => charges.some(({ cost }) => cost !== 0))
  }

  #left(i: number): number {
    return (this.#remaining[i] as number) + (this.#unused[i] as number)
  }
}

/**
 * How long a lease of the charge may last, ms: no longer than its window and the client's own limit. What a bucket or a
 * log has counted leaves it one by one.
 */
function validMs({ limit }: Charge, outcome: Outcome, at: number): number {
  const { algorithm, params, windowMs } = limit
  const ownMs = outcome.own === undefined ? Infinity : (outcome.ownMs as number)
  const windowEndsMs = params.calendar ? outcome.resetMs : windowMs - (at % windowMs)
  const leftMs = algorithm.keepsLog || algorithm.drains ? ownMs : Math.min(ownMs, windowEndsMs)
  // The store's clock counts whole milliseconds: its times may end almost one earlier.
  return leftMs - 1
}
