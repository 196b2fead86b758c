import type { Decision } from '@sluice/core'
import { limitOf } from './account.ts'
import { boundOf } from './bound.ts'
import { UntilLoss } from './until-loss.ts'

/** Units that were admitted, and when, ms on the store's clock. */
export interface Use {
  readonly at: number
  /** What the request has really cost, as far as it is known. */
  units: number
}

/**
 * In any span, all processes together admit at most what the algorithm admits in a span that is longer by a lease. It is
 * checked until the store loses what it has counted, an operator makes a quota full, or the clock steps.
 */
export class LeaseBound extends UntilLoss {
  readonly #uses = new Map<string, Use[]>()
  readonly #ended = new Set<string>()

  /** An operator makes the quota of a client full. */
  ends(key: string): void {
    this.#ended.add(key)
  }

  /** A process has admitted a request. A lease is used now, and all else when the store has decided. */
  admitted(key: string, units: number, { at, source }: Decision): Use | undefined {
    const { cluster, fail, plan } = this.run
    if (
      this.isOver ||
      this.#ended.has(key) ||
      (source !== 'store' && source !== 'lease') ||
      units === 0
    )
      return undefined
    const uses = this.#uses.get(key) ?? []
    this.#uses.set(key, uses)
    const use = { at: source === 'store' ? at : cluster.clockOf(key), units }
    uses.push(use)
    uses.sort((one, other) => one.at - other.at)
    const { policies = [], leaseMs = 0 } = plan.application.leases ?? {}
    for (const policy of policies) {
      const limit = limitOf(policy)
      const { window, algorithm } = policy
      for (const [first, { at: from }] of uses.entries()) {
        let sum = 0
        for (const { at: to, units: used } of uses.slice(first)) {
          sum += used
          const most = boundOf(policy, limit, to - from + leaseMs)
          if (sum > most + 1e-6)
            fail('bound', `${policy.name} admits ${sum} in ${to - from} ms and a lease, of ${most}`)
        }
      }
      if (algorithm !== 'fixed-window' && algorithm !== 'sliding-window') continue
      const last = Math.floor((uses.at(-1) as Use).at / window)
      const own = uses.filter((each) => Math.floor(each.at / window) === last)
      const used = own.reduce((sum, each) => sum + each.units, 0)
      if (used > limit) fail('bound', `${policy.name} admits ${used} of ${limit} in a window`)
    }
    return use
  }
}
