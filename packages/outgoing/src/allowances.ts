import type { Quota } from './fields.ts'

/** The rest of a quota by a server's answer, as the count of units that must not be exceeded. */
interface Bound {
  /** The count with the request whose answer said it; -1: its time has passed, and nobody knows what is left. */
  readonly from: number
  most: number
  /** Units that come back each ms, from `since` on. */
  readonly perMs: number
  readonly since: number
  readonly until: number
  /** The quota of the last answer. */
  readonly quota: Quota
}

/** A charge of a unit that an answer's rest may not include yet. */
export interface Charged {
  /** Units charged until the request began, with its own; it only grows. */
  readonly count: number
  /** Units of this process' requests before it that have no answer yet. */
  readonly unanswered: number
  /** Units of the request. */
  readonly cost: number
}

/** Quotas of a server that are known: more than it has. */
const MAX_BOUNDS = 64
/** How long a quota is believed whose server does not say when it is full again, ms. */
const UNSTATED_MS = 1000
/** How often it is looked at whether an answer has come, ms. */
const PROBE_MS = 50
/** How long the first request of a new window may be without an answer before the next one is sent, ms. */
const ANSWER_MS = 10_000

/** The rest of each quota by a server's answers, minus what was charged since, and what may not have reached it yet. */
export class Allowances {
  readonly #bounds = new Map<string, Bound>()

  /** @param now monotonic, ms */
  learn(quotas: readonly Quota[], chargedOf: (unit: string) => Charged, now: number): void {
    const ids = new Set(quotas.map(({ id }) => id))
    for (const [id, { from }] of this.#bounds) if (from < 0 && !ids.has(id)) this.#bounds.delete(id)
    for (const quota of quotas) {
      const { id, unit, limit, remaining, refills } = quota
      // 0 is less than a second, rounded down.
      const resetMs = quota.resetMs || UNSTATED_MS
      const { count, unanswered, cost } = chargedOf(unit)
      const known = this.#bounds.get(id)
      if (known !== undefined && known.from > count && known.until > now) {
        // Answers overtake each other: the newer one has counted this request, if it says that less is left.
        if (remaining >= known.quota.remaining) known.most += cost
      } else if (known !== undefined || this.#bounds.size < MAX_BOUNDS) {
        const perMs = refills && limit !== undefined ? (limit - remaining) / resetMs : 0
        const most = count + remaining - unanswered
        this.#bounds.set(id, { from: count, most, perMs, since: now, until: now + resetMs, quota })
      }
    }
  }

  /**
   * How long until a request may begin, ms; 0 if it may now.
   * @param chargedOf returns the charges when the request begins
   * @param sentAt when this process last sent a request, ms
   */
  waitMs(chargedOf: (unit: string) => Charged, now: number, sentAt: number): number {
    let waitMs = 0
    for (const [id, bound] of this.#bounds) {
      const { quota, most, perMs, since, until } = bound
      const { count, unanswered } = chargedOf(quota.unit)
      const isLeft = count <= most + Math.floor((Math.min(now, until) - since) * perMs)
      if (until <= now) {
        if (bound.from >= 0) this.#bounds.set(id, { ...bound, from: -1 })
        // Perhaps it is full again. One request finds out, and another one if it has no answer for so long.
        const isAsked = unanswered > 0 && now < sentAt + ANSWER_MS
        if (!isLeft && isAsked) waitMs = Math.max(waitMs, PROBE_MS)
      } else if (!isLeft) {
        const refillMs = perMs > 0 ? since + (count - most) / perMs - now : Infinity
        waitMs = Math.max(waitMs, Math.ceil(Math.min(until - now, refillMs)))
      }
    }
    return waitMs
  }
}
