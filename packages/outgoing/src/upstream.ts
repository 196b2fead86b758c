import type { Decision } from '@sluice/core'
import { Allowances, type Charged } from './allowances.ts'
import type { Answer } from './fields.ts'

/** The name of the policy that counts the requests of all processes, and that a pause blocks. */
export const SENT = 'sent'

/** The wait after the first refusal that does not say how long, and after many in a row; ms. */
const FIRST_BACKOFF_MS = 1000
const MAX_BACKOFF_MS = 60_000
/** How many requests at a time end the ramp after a pause, and how often it is looked at, ms. */
const FULL_RAMP = 64
const RAMP_MS = 50

/** Units by unit. */
export type Units = ReadonlyMap<string, number>

/** A request that was sent, or is about to be. */
export interface Sent {
  readonly units: Units
  /** The counts with it, by unit. */
  readonly counts: Units
  readonly at: number
}

/** The state of a server, as far as this process knows. Times are those of `performance.now()`, ms. */
export class Upstream {
  pausedUntil = 0
  /** Whether the first that waits does so by what this process knows, which an answer may change. */
  isHolding = false
  readonly #allowances = new Allowances()
  /** Units charged so far, by unit: requests by all processes, other units by this one. */
  #counts: Units = new Map()
  /** Units that the store is being asked for, by unit. */
  readonly #asking = new Map<string, number>()
  /** The requests without an answer, the oldest first. */
  readonly #unanswered = new Set<Sent>()
  /** The store's count of requests. */
  #ticket = 0
  /** Added to it, so that the sum only grows: the store's begins anew with each hour and each pause. */
  #base = 0
  /** How many requests there may be without an answer, at the beginning of the ramp after a pause. */
  #ramp = Infinity
  #refusals = 0
  #refusedAt = -Infinity
  #sentAt = -Infinity

  /** Whether nothing would be lost without it but what the server has last said. */
  get isIdle(): boolean {
    return this.#unanswered.size === 0
  }

  /** How long a request has to wait by what this process knows, ms. */
  waitMs(units: Units): number {
    const now = performance.now()
    if (this.pausedUntil > now) return Math.ceil(this.pausedUntil - now)
    // After a pause, one request at a time: one more with each answer, and twice as many each second.
    const inFlight = this.#unanswered.size + this.#askedOf('requests')
    if (inFlight >= this.#ramp * 2 ** ((now - this.pausedUntil) / 1000)) return RAMP_MS
    return this.#allowances.waitMs(
      (unit) => {
        // A server that says that nothing is left of a unit wants no request, whatever it costs.
        const cost = Math.max(1, units.get(unit) ?? 0)
        const asked = this.#askedOf(unit)
        const charged = this.#charged(unit, (this.#counts.get(unit) ?? 0) + asked + cost, cost)
        return { ...charged, unanswered: charged.unanswered + asked }
      },
      now,
      this.#sentAt,
    )
  }

  /** Asks the store for a request: those that ask meanwhile come behind it. */
  async asking<T>(units: Units, ask: () => Promise<T>): Promise<T> {
    const add = (sign: number) => {
      for (const [unit, cost] of units) this.#asking.set(unit, this.#askedOf(unit) + sign * cost)
    }
    add(1)
    try {
      return await ask()
    } finally {
      add(-1)
    }
  }

  /**
   * Counts a request that the store has admitted.
   * @returns undefined if it must wait nevertheless, since other processes have used what was left
   */
  begin({ policies }: Decision, units: Units): Sent | undefined {
    const before = this.#counts.get('requests') ?? 0
    const sent = policies.find(({ name, source }) => name === SENT && source === 'store')
    if (sent !== undefined) this.#ticket = sent.limit - sent.remaining
    if (this.#ticket + this.#base <= before) this.#base = before + 1 - this.#ticket
    const counts = new Map(this.#counts)
    for (const [unit, cost] of units) counts.set(unit, (counts.get(unit) ?? 0) + cost)
    counts.set('requests', this.#ticket + this.#base)
    const now = performance.now()
    const chargedOf = (unit: string) =>
      this.#charged(unit, counts.get(unit) ?? 0, units.get(unit) ?? 0)
    if (this.pausedUntil > now || this.#allowances.waitMs(chargedOf, now, this.#sentAt) > 0) {
      // It is given back, but those of other processes were sent.
      this.#ticket -= 1
      this.#counts = new Map(this.#counts).set('requests', this.#ticket + this.#base)
      return undefined
    }
    this.#counts = counts
    this.#sentAt = now
    const request = { units, counts, at: now }
    this.#unanswered.add(request)
    return request
  }

  /** The request has an answer, or will have none. */
  end(request: Sent): void {
    this.#unanswered.delete(request)
  }

  /**
   * Takes the server's answer into account.
   * @returns how long it wants no request, ms; 0 if it does not say so
   */
  heard(request: Sent, { quotas, isRefusal, isFinal, waitMs }: Answer): number {
    this.end(request)
    const now = performance.now()
    this.#allowances.learn(
      quotas,
      (unit) =>
        this.#charged(unit, request.counts.get(unit) ?? 0, request.units.get(unit) ?? 0, request),
      now,
    )
    if (!isRefusal) {
      this.#refusals = 0
      this.#ramp = this.#ramp + 1 >= FULL_RAMP ? Infinity : this.#ramp + 1
    }
    if (!isRefusal || (waitMs === undefined && isFinal)) return 0
    // Those in flight at a refusal say nothing new if they are refused too.
    if (request.at > this.#refusedAt) {
      this.#refusals += 1
      this.#refusedAt = now
    }
    return waitMs ?? Math.min(FIRST_BACKOFF_MS * 2 ** (this.#refusals - 1), MAX_BACKOFF_MS)
  }

  /** Sends nothing for so long, ms, and then little at first. @returns whether that is longer than was known */
  pause(pauseMs: number): boolean {
    const until = performance.now() + pauseMs
    this.#ramp = 1
    if (until <= this.pausedUntil) return false
    this.pausedUntil = until
    return true
  }

  #askedOf(unit: string): number {
    return this.#asking.get(unit) ?? 0
  }

  /** @param before only requests that began before it */
  #charged(unit: string, count: number, cost: number, before?: Sent): Charged {
    const limit = before?.counts.get('requests') ?? Infinity
    let unanswered = 0
    for (const { units, counts } of this.#unanswered) {
      if ((counts.get('requests') as number) >= limit) break
      unanswered += units.get(unit) ?? 0
    }
    return { count, unanswered, cost }
  }
}
