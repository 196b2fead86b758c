import { encode, hmac } from '#platform'
import { typeOf } from '../errors/thrown.ts'
import {
  banEvents,
  type ConsumeTrace,
  consumeTraces,
  type DecisionEvent,
  decisionEvents,
  type LimiterEvent,
  type PolicyEvent,
  type SettleEvent,
  settleEvents,
  type WaitTrace,
  waitTraces,
} from '../events.ts'
import { isPromise, type MaybePromise, then } from '../maybe-promise.ts'
import { givenBack } from '../stores/rules/slots.ts'
import type { Charge } from '../stores/store.ts'
import { bindingOf, type Decision } from './decision.ts'
import type { Policy } from './policy.ts'

/** Publishes what a limiter does, where somebody listens. */
export class LimiterEvents {
  private readonly policies: readonly Policy[]
  private readonly limiter: string | undefined
  private readonly keySecret: string | undefined
  private readonly dryRun: boolean

  /**
   * @param limiter the name of the limiter
   * @param keySecret the secret of the HMACs of keys; undefined: events have none
   * @param dryRun whether what is refused continues
   */
  constructor(
    policies: readonly Policy[],
    limiter: string | undefined,
    keySecret: string | undefined,
    dryRun: boolean,
  ) {
    this.policies = policies
    this.limiter = limiter
    this.keySecret = keySecret
    this.dryRun = dryRun
  }

  /** Whether somebody listens to what follows an admission: waits, settlements, releases. */
  get followUpsAreWatched(): boolean {
    return settleEvents.hasSubscribers || waitTraces.hasSubscribers
  }

  /**
   * Publishes the decision of a request.
   * @param charges one for each policy, in their order
   */
  decided(
    decision: Decision,
    charges: readonly Charge[],
    route: string | undefined,
    durationMs: number,
  ): void {
    const { allowed, ban } = decision
    const result = allowed ? 'admitted' : this.refusal
    const policies = decision.policies.map<PolicyEvent>(
      ({ name, unit, allowed: admits, limit, remaining, source }, i) => {
        const charged = allowed ? (charges[i] as Charge).cost : 0
        return { name, unit, allowed: admits, limit, remaining, charged, source }
      },
    )
    const banKey = decision.policies[0]?.key
    this.publish(decision, { result, source: decision.source, route, durationMs, policies })
    if (ban?.began && banEvents.hasSubscribers) {
      const keyHash = this.hash(banKey)
      const { dryRun } = this
      banEvents.publish({ ...this.about(route), endsMs: ban.endsMs, dryRun, keyHash })
    }
  }

  /** Publishes that no policy decided a request. */
  undecided(
    decision: Decision,
    source: 'list' | 'skip' | 'preflight',
    route: string | undefined,
  ): void {
    const result = decision.allowed ? 'skipped' : this.refusal
    this.publish(decision, { result, source, route, durationMs: 0, policies: [] })
  }

  /**
   * Publishes a correction when the store has confirmed it, or has failed to.
   * @param charges their costs are the units of the correction; read before this returns
   */
  settled(
    done: MaybePromise<void>,
    charges: readonly Charge[],
    route: string | undefined,
  ): MaybePromise<void> {
    if (!settleEvents.hasSubscribers) return done
    const event = this.settlement('cost', charges, route)
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
    settleEvents.publish(this.settlement(reason, givenBack(charges), route))
  }

  /** Traces a decision. */
  consuming(
    decide: () => MaybePromise<Decision>,
    isAsync: boolean,
    route: string | undefined,
  ): MaybePromise<Decision> {
    const policies = this.policies.map(({ name }) => name)
    const context: ConsumeTrace = { ...this.about(route), policies }
    let decision: Decision
    const traced = () =>
      then(decide(), (decided) => {
        decision = decided
        const { allowed, source } = decided
        return { allowed, source, policy: bindingOf(decided)?.name }
      })
    const done = isAsync
      ? consumeTraces.tracePromise(traced as () => Promise<DecisionEvent>, context)
      : consumeTraces.traceSync(traced as () => DecisionEvent, context)
    return then<unknown, Decision>(done, () => decision)
  }

  /** Traces how an admitted request waits for its turn. */
  waiting(
    { delayMs, policies }: Decision,
    route: string | undefined,
    wait: () => Promise<boolean>,
  ): Promise<boolean> {
    if (!waitTraces.hasSubscribers) return wait()
    const { name: policy } = policies.find((each) => each.delayMs === delayMs) as { name: string }
    const context: WaitTrace = { ...this.about(route), policy, delayMs }
    return waitTraces.tracePromise(wait, context)
  }

  private get refusal(): 'refused' | 'would_refuse' {
    return this.dryRun ? 'would_refuse' : 'refused'
  }

  private about(route: string | undefined): LimiterEvent {
    return { limiter: this.limiter, route }
  }

  private publish(
    decision: Decision,
    own: Pick<DecisionEvent, 'result' | 'source' | 'route' | 'durationMs' | 'policies'>,
  ): void {
    if (!decisionEvents.hasSubscribers) return
    const { allowed, limit, remaining, resetMs, retryAfterMs, delayMs, ban } = decision
    const binding = bindingOf(decision)
    decisionEvents.publish({
      limiter: this.limiter,
      ...own,
      allowed,
      policy: binding?.name,
      limit,
      remaining,
      resetMs,
      retryAfterMs,
      delayMs,
      banned: ban !== undefined,
      keyHash: allowed ? undefined : this.hash(binding?.key),
    })
  }

  private settlement(
    reason: SettleEvent['reason'],
    charges: readonly Charge[],
    route: string | undefined,
  ): SettleEvent {
    const policies = this.policies.flatMap(({ name, unit }, i) => {
      const units = (charges[i] as Charge).cost
      return units === 0 ? [] : [{ name, unit, units }]
    })
    return { ...this.about(route), reason, policies, errorType: undefined }
  }

  private hash(key: string | undefined): string | undefined {
    if (this.keySecret === undefined || key === undefined) return undefined
    return encode(hmac(this.keySecret, key), 'base64url')
  }
}
