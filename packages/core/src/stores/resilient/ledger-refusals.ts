import type { Outcome, Quota } from '../../algorithms/algorithm.ts'
import type { Charge, Ruling } from '../store.ts'
import type { Refusal, RefusalSpace, Refusals } from './refusals.ts'

/** So long, ms, until the store is asked again: what another process has reset is seen then. */
const ASK_AGAIN_MS = 10_000

/** What becomes of the store's answer, once it is there. */
export type Note = (charges: readonly Charge[], ruling: Ruling) => void

/**
 * What is remembered of refusals, for the policies of one ledger. A request is answered from it
 * only where that is exactly what the store would say: for costs of at most one unit, and where
 * every policy is known to have nothing left. Of a policy that has, `remaining` is the store's.
 */
export class LedgerRefusals {
  private readonly shared: Refusals
  private readonly spaces: readonly RefusalSpace[]
  private readonly wanted: boolean | undefined

  /** @param wanted undefined: where nothing in this process settles */
  constructor(shared: Refusals, spaces: readonly RefusalSpace[], wanted: boolean | undefined) {
    this.shared = shared
    this.spaces = spaces
    this.wanted = wanted
  }

  /**
   * The refusal that holds for these charges, as it stands now.
   * @param isAskable whether the store can be asked instead
   */
  find(charges: readonly Charge[], isAskable: () => boolean): Ruling | undefined {
    if (this.shared.isEmpty) return undefined
    const now = this.shared.clock()
    const found: Refusal[] = []
    for (let i = 0; i < charges.length; i += 1) {
      const { key, quota, cost } = charges[i] as Charge
      const space = this.spaces[i] as RefusalSpace
      if (cost > 1 || !this.isOn(space)) return undefined
      const refusal = this.shared.get(space, key)
      if (refusal === undefined || !haveSameTerms(quota, refusal.quota)) return undefined
      if (now >= refusal.until || (now >= refusal.askAgainAt && isAskable())) return undefined
      found.push(refusal)
    }
    return toRuling(found, now)
  }

  /** To be called when the store is asked. */
  listen(): Note {
    const askedAt = this.shared.clock()
    const ends = this.ends()
    return (charges, ruling) => {
      // Where keys are decided apart, what one has granted is given back when another refuses.
      if (ruling.origins !== undefined) this.settles()
      // What has ended since may have ended this refusal too.
      const holds = ends === this.ends()
      for (let i = 0; i < ruling.outcomes.length; i += 1) {
        const { key, quota, cost } = charges[i] as Charge
        const { at, source } = ruling.origins?.[i] ?? ruling
        const space = this.spaces[i] as RefusalSpace
        const outcome = ruling.outcomes[i] as Outcome
        if (source !== 'store') continue
        if (outcome.admitted || outcome.remaining > 0) {
          if (!this.shared.isEmpty) this.shared.delete(space, key)
        } else if (cost <= 1 && holds && this.isOn(space) && outcome.waitMs !== Infinity) {
          this.shared.set(space, key, toRefusal(quota, outcome, at, askedAt, this.shared.clock()))
        }
      }
    }
  }

  /**
   * Carries out what may leave more of the keys, or less. Forgets what is remembered of them, and
   * what is on its way, before and after: what is refused meanwhile may not be refused any more.
   */
  async ending(keys: readonly string[], act: () => Promise<void>): Promise<void> {
    this.end(keys)
    try {
      await act()
    } finally {
      this.end(keys)
    }
  }

  /** To be called where something settles: of what other processes give back nothing is known. */
  settles(): void {
    for (const space of this.spaces) space.settles = true
  }

  private end(keys: readonly string[]): void {
    for (let i = 0; i < keys.length; i += 1) {
      const space = this.spaces[i] as RefusalSpace
      space.ends += 1
      this.shared.delete(space, keys[i] as string)
    }
  }

  private isOn({ settles }: RefusalSpace): boolean {
    return this.wanted ?? !settles
  }

  private ends(): number {
    let ends = 0
    for (let i = 0; i < this.spaces.length; i += 1) ends += (this.spaces[i] as RefusalSpace).ends
    return ends
  }
}

function toRefusal(
  quota: Quota,
  { waitMs, resetMs }: Outcome,
  at: number,
  askedAt: number,
  receivedAt: number,
): Refusal {
  const until = askedAt + waitMs
  const askAgainAt = Math.min(until, askedAt + ASK_AGAIN_MS)
  return { quota, until, askAgainAt, receivedAt, at, waitMs, resetMs }
}

function toRuling(refusals: readonly Refusal[], now: number): Ruling {
  let latest = 0
  const outcomes = refusals.map(({ receivedAt, at, waitMs, resetMs }): Outcome => {
    const elapsedMs = Math.floor(now - receivedAt)
    latest = Math.max(latest, at + elapsedMs)
    return {
      admitted: false,
      remaining: 0,
      resetMs: Math.max(0, resetMs - elapsedMs),
      waitMs: waitMs - elapsedMs,
      delayMs: 0,
    }
  })
  return { admitted: false, at: latest, source: 'cache', outcomes }
}

/** Limits that are functions, and bursts, differ within one space. */
function haveSameTerms(a: Quota, b: Quota): boolean {
  return a === b || a.numbers.every((number, i) => number === b.numbers[i])
}
