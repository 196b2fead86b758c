import { type Charge, type Decision, WaitError } from '@sluice/core'
import {
  blockedDecision,
  ChargeLimiter,
  compilePolicies,
  limiterOn,
  nextSlot,
  type Policy,
  type StoreLimiter,
  type StoreOptions,
  undone,
  Waiting,
} from '@sluice/core/internal'
import { type Answer, MAX_WAIT_MS } from './fields.ts'
import { SENT, type Sent, type Units, Upstream } from './upstream.ts'

/** The name of the policy that counts requests in flight. */
const IN_FLIGHT = 'in-flight'
/** How long a place stays taken of which nothing is seen, ms. */
export const HOLD_MS = 30_000
/** Servers that a process knows something about, at most. Those in use come on top. */
const MAX_UPSTREAMS = 2000
/** How often the store is asked for a place, ms: nobody can know when another process gives one back. */
const ASK_FOR_PLACE_MS = 25
/** How long after telling of a pause it is looked at whether another process has told of a shorter one, ms. */
const CHECK_PAUSE_MS = 50

/** A request that may be sent, until its answer has ended. */
export interface Place {
  /** Takes the server's answer into account. @returns how long it wants no request, ms */
  heard(answer: Answer): number
  /**
   * Frees the place, once.
   * @param actual what each policy should have been charged, units; undefined: what it was
   */
  end(actual?: readonly (number | undefined)[]): void
}

/** A request that waits for its place. */
interface OutgoingCall {
  readonly upstream: Upstream
  readonly units: Units
  hasLeft: boolean
  sent: Sent | undefined
}

/** Decides when requests are sent: by its policies on the store, and by what this process knows about the server. */
export class OutgoingLimiter extends ChargeLimiter {
  /** The policy `SENT` alone. Blocking its key refuses the key here, and leaves the other counts as they are. */
  readonly #pauses: StoreLimiter
  readonly #waiting: Waiting
  readonly upstreams = new Map<string, Upstream>()
  readonly #calls = new WeakMap<readonly Charge[], OutgoingCall>()

  /**
   * @param policies the user's policies
   * @param known the options that they may have
   * @param concurrent requests of a key in flight; undefined: any number
   */
  constructor(
    policies: readonly object[],
    known: readonly string[],
    concurrent: number | undefined,
    { prefix = 'outgoing', ...others }: StoreOptions,
  ) {
    const limit = Number.MAX_SAFE_INTEGER
    const sent = { name: SENT, limit, window: '1h', algorithm: 'fixed-window' }
    const inFlight = { name: IN_FLIGHT, concurrent, hold: HOLD_MS }
    const all = [...policies, sent, ...(concurrent === undefined ? [] : [inFlight])]
    const options = { ...others, prefix }
    const compiled = compilePolicies({ policies: all }, [...known, 'concurrent', 'hold'])
    super(compiled, options, { settles: true })
    this.#waiting = new Waiting(this, this.maxWaiting, (charges) => this.decide(charges))
    const ofSent = compilePolicies({ policies: [sent] }, known)
    this.#pauses = limiterOn(ofSent, { ...options, store: this.store })
  }

  /**
   * Waits until the request may be sent, behind those that came before it.
   * @param costs units of the user's policies
   * @param maxWaitMs integer
   * @param isRepeated whether it has been sent before, and so goes before all others
   * @returns a rejection with a WaitError as soon as it is certain that it may not in time, or with the signal's
   *   reason
   */
  async admit(
    key: string,
    costs: readonly number[],
    maxWaitMs: number,
    signal: AbortSignal | undefined,
    isRepeated: boolean,
  ): Promise<Place> {
    const charges = this.compiledPolicies.map((policy, i) => ({
      key,
      limit: policy.anyLimit(),
      cost: costs[i] ?? 1,
      claim: policy.holdsSlots ? [nextSlot()] : undefined,
    }))
    const call: OutgoingCall = {
      upstream: this.#upstreamOf(key),
      units: this.#unitsOf(costs),
      hasLeft: false,
      sent: undefined,
    }
    this.#calls.set(charges, call)
    const options = { maxWait: maxWaitMs, signal, priority: Number(isRepeated) }
    try {
      const decision = await this.#waiting.wait(charges, options)
      return this.#placeOf(charges, decision, call)
    } catch (error) {
      call.hasLeft = true
      if (call.sent !== undefined) call.upstream.end(call.sent)
      throw error instanceof WaitError && error.code === 'SLUICE_WAIT_ABORTED'
        ? (error.cause ?? error)
        : error
    }
  }

  /** First by what this process knows, then by the store. */
  override async decide(charges: readonly Charge[]): Promise<Decision> {
    const call = this.#calls.get(charges) as OutgoingCall
    const { upstream, units } = call
    // It was admitted before, and given back, since it would have overtaken another one.
    if (call.sent !== undefined) upstream.end(call.sent)
    const waitMs = upstream.waitMs(units)
    const isPaused = upstream.pausedUntil > performance.now()
    // An answer may end a wait, but for a pause.
    upstream.isHolding = waitMs > 0 && !isPaused
    if (isPaused)
      return this.#refuseFor(waitMs, charges, this.store.mode === 'sync' ? 'store' : 'cache')
    if (waitMs > 0) return this.#refuseFor(waitMs, charges, 'local')
    const decision = await upstream.asking(units, async () =>
      super.decide(charges, undefined, false),
    )
    if (!decision.allowed) return this.#refused(decision, upstream)
    if (call.hasLeft) return decision
    call.sent = upstream.begin(decision, units)
    if (call.sent !== undefined) return decision
    upstream.isHolding = true
    // A charge that the store fails to take back stays.
    await Promise.resolve(this.correct(undone(charges), decision)).catch(() => {})
    return this.#refuseFor(Math.max(1, upstream.waitMs(units)), charges, 'local')
  }

  override close(): void {
    this.#pauses.close()
    this.#waiting.close()
    super.close()
  }

  #refuseFor(waitMs: number, charges: readonly Charge[], source: Decision['source']): Decision {
    const origin = { at: (this.store.clock ?? Date.now)(), source }
    return blockedDecision(waitMs, origin, this.compiledPolicies, charges)
  }

  #refused(decision: Decision, upstream: Upstream): Decision {
    const refusing = decision.policies.filter(({ allowed }) => !allowed)
    // The policies of the user may refuse a costly request for longer.
    const pause = refusing.find(({ name }) => name === SENT)
    if (pause !== undefined) upstream.pause(pause.retryAfterMs)
    if (refusing.length === 0 || refusing.some(({ name }) => name !== IN_FLIGHT)) return decision
    return { ...decision, retryAfterMs: ASK_FOR_PLACE_MS }
  }

  #placeOf(charges: readonly Charge[], decision: Decision, call: OutgoingCall): Place {
    const { upstream } = call
    const { key } = charges[0] as Charge
    const sent = call.sent as Sent
    const held = this.hold(charges, decision, (reason) =>
      this.events.released(reason, charges, undefined),
    )
    let hasEnded = false
    return {
      heard: (answer) => {
        const pauseMs = upstream.heard(sent, answer)
        if (pauseMs > 0 && upstream.pause(pauseMs)) void this.#tell(key, pauseMs)
        if (upstream.isHolding) this.#waiting.wake(key)
        return pauseMs
      },
      end: (actual = []) => {
        if (hasEnded) return
        hasEnded = true
        upstream.end(sent)
        void held?.release()
        const corrected = charges.map((charge, i) => {
          const { cost, claim } = charge
          const { limit = 0, windowMs } = this.compiledPolicies[i] as Policy
          // An answer that claims more stops its key for a day at most, as a pause does.
          const most = Math.max(cost, Math.floor(limit * Math.max(1, MAX_WAIT_MS / windowMs)))
          const delta = claim === undefined ? Math.min(actual[i] ?? cost, most) - cost : 0
          return { ...charge, cost: delta, claim: undefined }
        })
        // A higher cost is charged now; a lower one is given back to the time of the charge.
        const policies = decision.policies.map((each, i) =>
          (corrected[i] as Charge).cost > 0 ? { source: each.source } : each,
        )
        const isCorrected = policies.length > 0 && corrected.some(({ cost }) => cost !== 0)
        // The store's failure has its own warning.
        if (isCorrected)
          Promise.resolve(this.settleCharges(corrected, { policies })).catch(() => {})
        if (upstream.isHolding) this.#waiting.wake(key)
      },
    }
  }

  /** Tells all processes to pause, unless they know of a longer pause. */
  async #tell(key: string, pauseMs: number): Promise<void> {
    const until = performance.now() + pauseMs
    const restMs = () => Math.ceil(until - performance.now())
    try {
      while (restMs() > (await this.#pauses.peek(key)).retryAfterMs) {
        await this.#pauses.block(key, Math.max(1, restMs()))
        // Another process, with a shorter one, may have looked before and told after this one.
        await new Promise((resolve) => setTimeout(resolve, CHECK_PAUSE_MS))
      }
    } catch {
      // It holds in this process; the store's failure has its own warning.
    }
  }

  /** The state of a server. Those that were not used for the longest time are forgotten. */
  #upstreamOf(key: string): Upstream {
    const upstreams = this.upstreams
    const upstream = upstreams.get(key) ?? new Upstream()
    upstreams.delete(key)
    upstreams.set(key, upstream)
    for (const [other, { isIdle }] of upstreams) {
      if (upstreams.size <= MAX_UPSTREAMS) break
      if (isIdle && other !== key) upstreams.delete(other)
    }
    return upstream
  }

  /** Units by unit, of which policies with the same one have the largest. */
  #unitsOf(costs: readonly number[]): Units {
    const units = new Map([['requests', 1]])
    for (const [i, cost] of costs.entries()) {
      const { unit } = this.compiledPolicies[i] as Policy
      if (unit !== 'requests') units.set(unit, Math.max(units.get(unit) ?? 0, cost))
    }
    return units
  }
}
