import type { Charge, Decision, ThresholdEvent } from '@sluice/core'
import {
  ChargeLimiter,
  compilePolicies,
  nextSlot,
  numberOf,
  openLimiter,
  settleUntilConfirmed,
} from '@sluice/core/adapter'
import type { Settings } from './options.ts'

/** The options that the policies have. */
const KNOWN = 'name limit window timeZone anchor algorithm unit alertAt reserve hold'.split(' ')
/** The first days of the weeks in which runs are counted: of any three days, one of the two has all. */
const WEEKS = { '': '2024-01-01', '-2': '2024-01-04' }

/** The charge of one policy: whom, against which limit, and how much. In integers. */
export interface LevelCharge {
  /** The name of a level; or what a run limits, `'run'` or `'calls'`, with the end that names its week. */
  readonly name: string
  readonly key: string
  readonly limit: number
  readonly cost: number
}

/** The limit of a run, once for each of its weeks. */
export function inWeeks(charge: LevelCharge): LevelCharge[] {
  return Object.keys(WEEKS).map((week) => ({ ...charge, name: charge.name + week }))
}

/** The levels of some calls, and of their run, decided together. */
export class LevelLimiter extends ChargeLimiter {
  /** Whether the estimates of a process that dies come back. */
  readonly #returns: boolean

  /**
   * @param names the names of the charges
   * @param store the store of the first limiter, in which all of them count
   */
  constructor(settings: Settings, names: readonly string[], store = settings.store.store) {
    const { money, onAlert } = settings
    const policies = compilePolicies(
      { policies: names.map((name) => policyOf(settings, name)) },
      KNOWN,
    )
    const onThreshold = ({ policy: level, key, threshold: share, ...event }: ThresholdEvent) => {
      const [used, limit] = [money.shown(event.used), money.shown(event.limit)]
      const id = key.slice(key.indexOf('}') + 1)
      onAlert?.({ level, id, share, used, limit, windowEndsAt: event.windowEndsAt })
    }
    const options = { ...settings.store, store, ...(onAlert && { onThreshold }) }
    super(openLimiter(policies, options, { settles: true }))
    this.#returns = settings.hold !== undefined
  }

  chargesOf(charges: readonly LevelCharge[]): Charge[] {
    const owner = numberOf((charges[0] as LevelCharge).key)
    return charges.map(({ key, limit, cost }, i) => {
      const policy = this.compiledPolicies[i] as (typeof this.compiledPolicies)[number]
      const slot = this.#returns && policy.reserves ? nextSlot() : undefined
      return { key, cost, limit: policy.compiledLimit ?? policy.limitFor(limit), slot, owner }
    })
  }

  /**
   * Decides charges, and reports it.
   * @param isFree whether it charges nothing
   */
  async charge(charges: readonly Charge[], isFree: boolean): Promise<Decision> {
    const startedAt = performance.now()
    const decision = await (isFree ? this.preview(charges) : this.decide(charges))
    this.report(decision, charges, performance.now() - startedAt)
    return decision
  }

  /**
   * Corrects what was charged, once, and ends its reservations. Never rejects: what the store does not confirm is
   * repeated for an hour.
   * @param charged the decision about each charge
   * @param delta the cost beyond the charge, integers
   */
  async settle(charges: readonly Charge[], charged: Charged, delta: number): Promise<void> {
    if (charged.length === 0) return
    const corrected = charges.map((charge, i) => {
      if (!this.compiledPolicies[i]?.reserves) return { ...charge, cost: 0 }
      const { slot, cost } = charge
      // Without a reservation, the slot only identifies the settlement.
      return { ...charge, cost: delta, slot: slot ?? nextSlot(), reserved: slot ? cost : 0 }
    })
    // A lower cost is given back to the window of the charge; a higher one is charged now.
    const policies = delta < 0 ? charged : charged.map(({ source }) => ({ source }))
    await settleUntilConfirmed(this, corrected, { policies })
  }
}

/** The decision about each charge; empty if the store did not decide. */
export type Charged = readonly Partial<Decision['policies'][number]>[]

function policyOf(settings: Settings, name: string): object {
  const { alertAt, hold, levels, money, timeZone, window } = settings
  const [, counted, week] = /^(run|calls)(?:\.\d+)?(|-2)$/.exec(name) ?? []
  const isMoney = counted !== 'calls'
  const unit = isMoney ? money.counted : counted
  const reserved = isMoney ? { unit, reserve: true, ...(hold && { hold }) } : { unit }
  if (week !== undefined)
    return { name, limit: varying, window: 'week', anchor: WEEKS[week as ''], ...reserved }
  const limit = levels.get(name)?.units ?? varying
  return { name, limit, window, timeZone, algorithm: 'fixed-window', alertAt, ...reserved }
}

/** Stands for a limit that each charge has of its own. */
function varying(): number {
  return 0
}
