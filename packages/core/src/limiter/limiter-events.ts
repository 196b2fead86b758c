import { encode, hmac } from '#platform'
import { textOf, typeOf } from '../errors/thrown.ts'
import { warnOnce } from '../errors/warning.ts'
import type { ConsumeTrace, DecisionEvent, SettleEvent } from '../events.ts'
import { banEvents, consumeTraces, decisionEvents, settleEvents, waitTraces } from '../events.ts'
import { andThen, attempt, isPromise, type MaybePromise } from '../maybe-promise.ts'
import { givenBack } from '../stores/rules/slots.ts'
import type { Charge, OnIncrease, Origin } from '../stores/store.ts'
import { bindingOf, type Decision, type PolicyDecision } from './decision.ts'
import type { Policy } from './policy.ts'

/**
 * Gets what policies have charged.
 * @param charges one for each policy; of a settlement, their costs are the units of the correction
 * @param origins when each was charged; without a time: now
 */
export type ChargeListener = (
  policies: readonly Policy[],
  charges: readonly Charge[],
  origins: readonly Partial<Origin>[],
  isSettlement: boolean,
) => void

/** Publishes the events of a limiter that have subscribers. */
export class LimiterEvents {
  protected readonly policies: readonly Policy[]
  protected readonly limiter: string | undefined
  readonly #keySecret: string | undefined
  readonly #dryRun: boolean
  /** Set while a meter listens. */
  onCharge: ChargeListener | undefined

  /**
   * @param limiter the name of the limiter
   * @param keySecret the secret of the HMACs of keys; undefined: events have none
   * @param dryRun whether refused requests continue
   */
  constructor(
    policies: readonly Policy[],
    limiter: string | undefined,
    keySecret: string | undefined,
    dryRun: boolean,
  ) {
    this.policies = policies
    this.limiter = limiter
    this.#keySecret = keySecret
    this.#dryRun = dryRun
  }

  /** Whether decisions, or the events that they cause, have subscribers. */
  get isWatched(): boolean {
    if (this.onCharge !== undefined) return true
    return decisionEvents.hasSubscribers || banEvents.hasSubscribers
  }

  /** Whether somebody listens to what follows an admission: waits, settlements, releases. */
  get followUpsAreWatched(): boolean {
    return settleEvents.hasSubscribers || waitTraces.hasSubscribers
  }

  /**
   * Publishes the decision of a request.
   * @param charges one for each policy that decided, in their order
   * @param source who decided, if no policy did and the request is neither limited nor counted
   */
  decided(
    decision: Decision,
    charges: readonly Charge[],
    route: string | undefined,
    durationMs: number,
    source: DecisionEvent['source'] = decision.source,
  ): void {
    const { limit, remaining, resetMs, retryAfterMs, delayMs, policies, ban } = decision
    const dryRun = this.#dryRun
    const { limiter } = this
    const refusing = decision.allowed ? dryRefusalOf(policies) : undefined
    const allowed = decision.allowed && refusing === undefined
    const admission = source === decision.source ? 'admitted' : 'skipped'
    const refusal = dryRun || refusing !== undefined ? 'would_refuse' : 'refused'
    if (decisionEvents.hasSubscribers) {
      const binding = refusing ?? bindingOf(decision)
      decisionEvents.publish({
        limiter,
        route,
        result: allowed ? admission : refusal,
        allowed,
        source,
        policy: binding?.name,
        policies: policies.map((policy, i) => ({
          name: policy.name,
          unit: policy.unit,
          allowed: policy.allowed,
          dryRun: policy.dryRun ?? dryRun,
          limit: policy.limit,
          remaining: policy.remaining,
          charged: decision.allowed ? (charges[i] as Charge).cost : 0,
          source: policy.source,
        })),
        limit,
        remaining,
        resetMs,
        retryAfterMs,
        delayMs,
        durationMs,
        banned: ban !== undefined,
        keyHash: allowed ? undefined : this.#hash(binding?.key),
      })
    }
    if (ban?.began && banEvents.hasSubscribers) {
      const keyHash = this.#hash(policies[0]?.key)
      banEvents.publish({ limiter, route, endsMs: ban.endsMs, dryRun, keyHash })
    }
    if (decision.allowed && policies.length > 0)
      this.onCharge?.(this.policies, charges, policies, false)
  }

  /**
   * Returns the function that a ledger calls with the charges that it raises; undefined if nobody listens.
   * @param _policies who has made each charge. Default: the store
   */
  onIncrease(
    _charges: readonly Charge[],
    _policies: readonly Partial<Origin>[],
    _route: string | undefined,
  ): OnIncrease | undefined {
    return undefined
  }

  /**
   * Publishes a correction when the store has confirmed it, or has failed to.
   * @param charges their costs are the units of the correction. Nobody changes them
   * @param origins when each charge that is corrected was made; without a time: now
   */
  settled(
    done: MaybePromise<void>,
    charges: readonly Charge[],
    route: string | undefined,
    origins: readonly Partial<Origin>[],
  ): MaybePromise<void> {
    const published = this.#publishSettled(done, charges, route)
    const { onCharge } = this
    if (onCharge === undefined) return published
    return andThen(published, () => onCharge(this.policies, charges, origins, true))
  }

  #publishSettled(
    done: MaybePromise<void>,
    charges: readonly Charge[],
    route: string | undefined,
  ): MaybePromise<void> {
    if (!settleEvents.hasSubscribers) return done
    const event = this.#settlement('cost', charges, route)
    if (!isPromise(done)) return settleEvents.publish(event)
    return done.then(
      () => settleEvents.publish(event),
      (error) => {
        settleEvents.publish({ ...event, errorType: typeOf(error) })
        throw error
      },
    )
  }

  /**
   * Publishes that slots were given back.
   * @param charges the charges of the request that held the slots
   */
  released(
    reason: 'released' | 'abandoned',
    charges: readonly Charge[],
    route: string | undefined,
  ): void {
    if (!settleEvents.hasSubscribers) return
    const event = this.#settlement(reason, givenBack(charges), route)
    if (event.policies.length > 0) settleEvents.publish(event)
  }

  /** Traces a decision. */
  consuming(
    decide: () => MaybePromise<Decision>,
    isAsync: boolean,
    route: string | undefined,
  ): MaybePromise<Decision> {
    const policies = this.policies.map(({ name }) => name)
    const context: ConsumeTrace = { limiter: this.limiter, route, policies }
    let decision: Decision
    const traced = () =>
      andThen(decide(), (decided) => {
        decision = decided
        const { allowed, source } = decided
        return { allowed, source, policy: bindingOf(decided)?.name }
      })
    const done = isAsync
      ? consumeTraces.tracePromise(traced as () => Promise<DecisionEvent>, context)
      : consumeTraces.traceSync(traced as () => DecisionEvent, context)
    return andThen<unknown, Decision>(done, () => decision)
  }

  /** Traces how an admitted request waits for its turn. */
  waiting(
    { delayMs, policies }: Decision,
    route: string | undefined,
    wait: () => Promise<boolean>,
  ): Promise<boolean> {
    if (!waitTraces.hasSubscribers) return wait()
    const { name: policy } = policies.find((each) => each.delayMs === delayMs) as { name: string }
    const context = { limiter: this.limiter, route, policy, delayMs }
    // In a realm of its own, as Jest makes one, Node's promise is none that adapters know.
    return Promise.resolve(waitTraces.tracePromise(wait, context))
  }

  #settlement(
    reason: SettleEvent['reason'],
    charges: readonly Charge[],
    route: string | undefined,
  ): SettleEvent {
    const policies = this.policies.flatMap(({ name, unit }, i) => {
      const units = (charges[i] as Charge).cost
      return units === 0 ? [] : [{ name, unit, units }]
    })
    return { limiter: this.limiter, route, reason, policies, errorType: undefined }
  }

  #hash(key: string | undefined): string | undefined {
    if (this.#keySecret === undefined || key === undefined) return undefined
    return encode(hmac(this.#keySecret, key), 'base64url')
  }
}

/** The policy with the longest wait, of the dry runs that would refuse; undefined: none would. */
function dryRefusalOf(policies: readonly PolicyDecision[]): PolicyDecision | undefined {
  const refusing = policies.filter(({ allowed }) => !allowed)
  return refusing.sort((one, other) => other.retryAfterMs - one.retryAfterMs)[0]
}

/** Passes a decision to `onDecision`. If that fails, the request continues. */
export function callOnDecision<Request>(
  onDecision: ((decision: Decision, request: Request, key: string) => unknown) | undefined,
  decision: Decision,
  request: Request,
  key: string,
): void {
  if (onDecision !== undefined)
    void attempt(() => onDecision(decision, request, key), warnOfCallback)
}

function warnOfCallback(error: unknown): void {
  warnOnce(
    'SLUICE_ON_DECISION',
    `onDecision threw ${textOf(error)}. The decision is not affected. Fix the callback.`,
  )
}
