import type { CompiledLimit, Outcome } from '../algorithms/algorithm.ts'
import { endedUnits, isOnce, once, slotOf } from '../algorithms/held/claim.ts'
import { consumeTraces } from '../events.ts'
import { all, andThen, type MaybePromise } from '../maybe-promise.ts'
import { withRefusals } from '../stores/rules/decide-all.ts'
import { madeOf, placed } from '../stores/rules/slots.ts'
import type {
  Charge,
  GrantChange,
  GrantResult,
  OnIncrease,
  Origin,
  OverrideChange,
  StoreResult,
} from '../stores/store.ts'
import { ConfirmedSlots } from './confirmed-slots.ts'
import { type Decision, toDecision } from './decision.ts'
import { HeldSlot } from './held-slots.ts'
import type { GrantOptions, OverrideOptions } from './limiter.ts'
import { callOnDecision } from './limiter-events.ts'
import { OpenLimiter } from './open-limiter.ts'
import { grantOf, isGranted, overridesOf } from './own-limits.ts'

/** The charges of a decision, for corrections: when each was made, who made it, and what remained after it. */
export interface Charged {
  readonly policies: readonly Partial<Origin & Pick<Outcome, 'remaining'>>[]
}

/** Decides charges on a store, and corrects them. What decides by keys, and each adapter, makes its own charges. */
export class ChargeLimiter extends OpenLimiter {
  /** Undefined where no settlement may be made again. */
  readonly #confirmed: ConfirmedSlots | undefined
  /** What counts refusals; undefined: nothing does. */
  readonly #counting: CompiledLimit | undefined
  /** Reused by every decision of a synchronous store, so that it allocates only itself. */
  readonly #request: [readonly Charge[]] | undefined
  readonly #charges: Charge[] | undefined

  constructor(...given: ConstructorParameters<typeof OpenLimiter>) {
    super(...given)
    const isSync = this.store.mode === 'sync'
    const mayRepeat = !isSync && this.compiledPolicies.some(({ reserves }) => reserves)
    this.#counting = this.counted.ban?.limit
    this.#confirmed = mayRepeat ? new ConfirmedSlots() : undefined
    this.#request = isSync ? [[]] : undefined
    this.#charges = this.#request && this.#counting && []
  }

  /**
   * Decides charges in the order of the policies, which may differ in key, quota and cost. Leave them
   * unchanged until it has answered.
   * @param route the route that its trace names
   * @param isCounted whether a refusal is counted: not where the request is asked for again
   */
  decide(
    charges: readonly Charge[],
    route?: string,
    isCounted = true,
    isTraced: boolean = consumeTraces.hasSubscribers,
  ): MaybePromise<Decision> {
    if (isTraced) {
      const isAsync = this.store.mode === 'async'
      const untraced = () => this.decide(charges, route, isCounted, false)
      return this.events.consuming(untraced, isAsync, route)
    }
    if (this.singleUse?.isRuledOut()) this.singleUse = undefined
    const ledger = this.ledgers.only ?? this.ledgers.of(charges)
    const request = this.#request ?? [charges]
    request[0] =
      this.#counting === undefined
        ? charges
        : withRefusals(charges, this.#counting, isCounted ? 1 : 0, this.#charges)
    const results = ledger.decide(request)
    return results instanceof Promise
      ? results.then(([result]) =>
          toDecision(result as StoreResult, this.compiledPolicies, charges),
        )
      : toDecision(results[0] as StoreResult, this.compiledPolicies, charges)
  }

  /** The decision that the charges would get now. */
  preview(charges: readonly Charge[]): MaybePromise<Decision> {
    const asked = this.#counting === undefined ? charges : withRefusals(charges, this.#counting, 0)
    return andThen(this.ledgers.of(charges).decide([asked], true), ([result]) =>
      toDecision(result as StoreResult, this.compiledPolicies, charges),
    )
  }

  /**
   * Renews the slots and reservations of a request until they are given back; undefined if it has none.
   * @param ended called once, when they are no longer renewed
   * @param activity left out: they are renewed until they are given back or abandoned
   */
  hold(
    charges: readonly Charge[],
    { allowed, policies }: Decision,
    ended: HeldSlot['ended'],
    activity?: HeldSlot['activity'],
  ): HeldSlot | undefined {
    const { held } = this
    if (held === undefined || !allowed || policies.length === 0) return undefined
    return new HeldSlot(held, this.ledgers.of(charges), charges, ended, activity)
  }

  /**
   * Corrects the charges of a decision, each policy at its source and time. Without a time: now. On a remote store, one
   * that ends a reservation may be made again: it is made once.
   * @param route the route that its event names
   * @param isRepeated whether it is made again
   */
  settleCharges(
    charges: readonly Charge[],
    decision: Charged,
    route?: string,
    isRepeated?: boolean,
  ): MaybePromise<void> {
    const onIncrease = this.events.onIncrease(charges, decision.policies, route)
    const corrected = this.correct(charges, decision, onIncrease, isRepeated)
    return this.events.settled(corrected, charges, route, decision.policies)
  }

  /** Corrects charges as `settleCharges` does, without an event: for charges that no event has reported. */
  correct(
    charges: readonly Charge[],
    { policies }: Charged,
    onIncrease?: OnIncrease,
    isRepeated?: boolean,
  ): MaybePromise<void> {
    const ledger = this.ledgers.of(charges)
    const corrected = policies.map((policy, i) => {
      const isSame = ({ at, source }: Partial<Origin>) =>
        at === policy.at && source === policy.source
      // The first policy of a time and a source corrects all of them: mostly they have the same.
      if (policies.findIndex(isSame) < i) return undefined
      const { at: chargedAt, source = 'store' } = policy
      const own = charges.map((charge, k) => {
        if (!isSame(policies[k] as Partial<Origin>)) return { ...charge, cost: 0, claim: undefined }
        const corrected = placed(charge, policies[k]?.remaining)
        return source === 'store' ? this.#repeatable(corrected, k) : corrected
      })
      const change = { kind: 'settle', charges: own, chargedAt, source, isRepeated } as const
      return andThen(this.ledgers.change(ledger, change, onIncrease), () => {
        // An attempt that was not answered may still be on its way.
        if (!isRepeated) this.#confirm(own)
      })
    })
    return all(corrected)
  }

  #repeatable(charge: Charge, place: number): Charge {
    const { limit, key, claim } = charge
    if (this.#confirmed === undefined || !claim || !limit.algorithm.reserves) return charge
    if (endedUnits(claim) === undefined) return charge
    return { ...charge, claim: once(claim, this.#confirmed.take(`${place} ${key}`)) }
  }

  #confirm(settled: readonly Charge[]): void {
    for (const [place, { key, claim }] of settled.entries())
      if (claim && isOnce(claim)) this.#confirmed?.add(`${place} ${key}`, slotOf(claim))
  }

  /** Gives a client of its own what `Limiter.override` says. */
  overrideKey(key: string, override: OverrideOptions | null): MaybePromise<void> {
    const changes = overridesOf(this.#withOwnLimits(), key, override)
    return all(changes.map((change) => this.#changeOwn(change)))
  }

  /** Adds what `Limiter.grant` says. */
  grantKey(key: string, units: number, options?: GrantOptions): MaybePromise<boolean> {
    const change = grantOf(this.#withOwnLimits(), key, units, options)
    return andThen(this.#changeOwn(change), (result) =>
      isGranted(result as GrantResult, change, options),
    )
  }

  #withOwnLimits() {
    return { policies: this.compiledPolicies, now: (this.store.clock ?? Date.now)() }
  }

  #changeOwn(change: OverrideChange | GrantChange): MaybePromise<GrantResult | undefined> {
    const { policy, limit } = change
    const charges = this.compiledPolicies.map((each, i) => {
      return { key: '', cost: 0, limit: i === policy ? limit : each.anyLimit() }
    })
    return this.ledgers.change(this.ledgers.of(charges), change)
  }

  /** Publishes a decision, and passes it to `onDecision`. */
  report(decision: Decision, charges: readonly Charge[], durationMs: number): void {
    const made = madeOf(charges, decision.policies)
    if (this.events.isWatched) this.events.decided(decision, made, undefined, durationMs)
    callOnDecision(this.onDecision, decision, undefined, (charges[0] as Charge).key)
  }
}
