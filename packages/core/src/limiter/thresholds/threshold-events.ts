import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import { textOf } from '../../errors/thrown.ts'
import { warnOnce } from '../../errors/warning.ts'
import { type DecisionEvent, type ThresholdEvent, thresholdEvents } from '../../events.ts'
import { attempt } from '../../maybe-promise.ts'
import { localShareOf } from '../../stores/resilient/local-share.ts'
import { fullOf } from '../../stores/rules/decide-all.ts'
import { compileOwn } from '../../stores/rules/own-terms.ts'
import { usedOf } from '../../stores/rules/used.ts'
import type {
  Charge,
  ChargeIncrease,
  DecisionSource,
  OnIncrease,
  Origin,
} from '../../stores/store.ts'
import type { Decision } from '../decision.ts'
import type { EventOptions } from '../event-options.generated.ts'
import { LimiterEvents } from '../limiter-events.ts'
import type { Policy } from '../policy.ts'

/** The shares of one limit, in its units. */
interface Levels {
  /** Units that the quota holds when it is full. */
  readonly full: number
  /** The option `alertAt`, which a document may change while the limit stays. */
  readonly shares: readonly number[]
  /** The units from which on each share of `alertAt` is reached, in their order. */
  readonly units: readonly number[]
}

/**
 * The events of a limiter that has `alertAt`: also when a charge brings what a key has used to such a share of its limit.
 * It keeps nothing of a key: the store's answer says what a charge has changed. What is used is what the quota holds
 * when it is full, without what remains.
 */
export class ThresholdEvents extends LimiterEvents {
  readonly #localShare: number
  readonly #onThreshold: EventOptions['onThreshold']
  readonly #levels = new WeakMap<CompiledLimit, Levels>()

  /**
   * @param given what the limiter's other events need; at least one policy has `alertAt`
   * @param localShare the share of the limits by which this process decides alone
   */
  constructor(
    given: ConstructorParameters<typeof LimiterEvents>,
    localShare: number,
    onThreshold: EventOptions['onThreshold'],
  ) {
    super(...given)
    this.#localShare = localShare
    this.#onThreshold = onThreshold
  }

  override get isWatched(): boolean {
    return this.#thresholdsAreWatched || super.isWatched
  }

  override get followUpsAreWatched(): boolean {
    return this.#thresholdsAreWatched || super.followUpsAreWatched
  }

  get #thresholdsAreWatched(): boolean {
    return this.#onThreshold !== undefined || thresholdEvents.hasSubscribers
  }

  /** Reports also the thresholds that an admitted request has reached. */
  override decided(
    decision: Decision,
    charges: readonly Charge[],
    route: string | undefined,
    durationMs: number,
    from?: DecisionEvent['source'],
  ): void {
    super.decided(decision, charges, route, durationMs, from)
    if (!decision.allowed) return
    for (const [place, policy] of decision.policies.entries()) {
      const { remaining, resetMs, limit, at, source } = policy
      const charge = charges[place] as Charge
      const before = remaining + charge.cost
      this.#report({ place, limit, before, remaining, resetMs, at }, charge, source, route)
    }
  }

  override onIncrease(
    charges: readonly Charge[],
    policies: readonly Partial<Origin>[],
    route: string | undefined,
  ): OnIncrease | undefined {
    if (!this.#thresholdsAreWatched) return undefined
    return (increase) => {
      const source = policies[increase.place]?.source ?? 'store'
      this.#report(increase, charges[increase.place] as Charge, source, route)
    }
  }

  /**
   * Reports the thresholds that a charge has reached.
   * @param source who has made it
   */
  #report(
    { place, limit: shown, before, remaining, excess, resetMs, at }: ChargeIncrease,
    { key, limit: asked }: Charge,
    source: DecisionSource,
    route: string | undefined,
  ): void {
    const { limiter } = this
    const policy = this.policies[place] as Policy
    const { name, alertAt, unit } = policy
    if (alertAt === undefined) return
    const limit = source === 'local' ? localShareOf(asked, this.#localShare) : ownOr(asked, shown)
    const { full, units } = this.#levelsOf(limit, alertAt, at)
    const used = usedOf({ limit: full, remaining, excess })
    for (const [i, threshold] of alertAt.entries()) {
      const level = units[i] as number
      if (used < level || full - before >= level) continue
      const windowEndsAt = policy.windowEndOf(limit, at, resetMs)
      this.#publish({
        limiter,
        route,
        policy: name,
        unit,
        key,
        threshold,
        used,
        limit: full,
        windowEndsAt,
        at,
        source,
      })
    }
  }

  #levelsOf(limit: CompiledLimit, shares: readonly number[], at: number): Levels {
    let levels = this.#levels.get(limit)
    if (levels?.shares !== shares) {
      const full = fullOf(limit, at)
      levels = { full, shares, units: shares.map((share) => unitsOf(share, full)) }
      this.#levels.set(limit, levels)
    }
    return levels
  }

  #publish(event: ThresholdEvent): void {
    const onThreshold = this.#onThreshold
    if (thresholdEvents.hasSubscribers) thresholdEvents.publish(event)
    if (onThreshold !== undefined) void attempt(() => onThreshold(event), warnOfCallback)
  }
}

/** The limit that has decided: the client's own, if another one than the policy's is shown. */
function ownOr(asked: CompiledLimit, limit: number): CompiledLimit {
  if (limit === asked.units) return asked
  // The size of a quota does not depend on its burst, unless that is the limit.
  const { maxDelayMs } = asked.params
  return compileOwn(asked, { override: { limit, maxDelayMs }, granted: 0 })
}

/** The least units that are such a share: of the decimal number, exactly, however many units there are. */
function unitsOf(share: number, full: number): number {
  const decimal = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(share)) as RegExpExecArray
  const [, whole = '', part = '', exponent = '0'] = decimal
  const divisor = 10n ** BigInt(part.length + Number(exponent))
  const product = BigInt(whole + part) * BigInt(full)
  return Number((product + divisor - 1n) / divisor)
}

function warnOfCallback(error: unknown): void {
  warnOnce(
    'SLUICE_ON_THRESHOLD',
    `onThreshold threw ${textOf(error)}. The charge is not affected. Fix the callback.`,
  )
}
