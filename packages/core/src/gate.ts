import type { Quota } from './algorithms/algorithm.ts'
import type { Decision, PolicyDecision } from './decision.ts'
import { joinStates } from './http/join-states.ts'
import { PROBLEM_MEDIA_TYPE, problemBody } from './http/problem.ts'
import type { SetField } from './http/profiles/index.ts'
import { retryAfterSeconds } from './http/retry-after.ts'
import { WirePolicy } from './http/wire-policy.ts'
import { longestWait, type WireItem, type WireState } from './http/wire-state.ts'
import { checkCost, type Limiter, PolicyLimiter } from './limiter.ts'
import { isPromise, type MaybePromise, then } from './maybe-promise.ts'
import { type ChargeRule, compilePlan, type Plan } from './options/compile.ts'
import type { RateLimitOptions } from './options/rate-limit-options.ts'
import { type Framework, isPreflight } from './request.ts'
import type { Charge } from './stores/store.ts'
import { warnOnce } from './warning.ts'

/** What is to be done with a request that was decided. */
export interface Verdict {
  readonly decision: Decision
  /** How the policies stand, for the header fields. Undefined: none are to be sent. */
  readonly state: WireState | undefined
  /** Undefined: the request goes on. */
  readonly refusal: Refusal | undefined
}

export interface Refusal {
  readonly status: 429 | 503
  /** Whole seconds. */
  readonly retryAfter: number
  readonly mediaType: string
  /** problem+json (RFC 9457), with no identifier of the client in it. */
  readonly body: string
}

/**
 * The main path: request → key → policies → limiter → decision → verdict. Knows no framework:
 * an adapter reads the facts of its requests for it and carries out what it says.
 */
export class Gate<Request, Response> {
  readonly limiter: Limiter
  readonly respond: RateLimitOptions<Request, Response>['respond']
  private readonly framework: Framework<Request>
  private readonly plan: Plan<Request>
  private readonly decider: PolicyLimiter
  private readonly onDecision: RateLimitOptions<Request, Response>['onDecision']
  private readonly wirePolicies = new WeakMap<Quota, WirePolicy>()

  /** @throws SluiceError for wrong options */
  constructor(options: RateLimitOptions<Request, Response>, framework: Framework<Request>) {
    this.framework = framework
    this.plan = compilePlan(options, framework)
    this.decider = new PolicyLimiter(
      this.plan.rules.map(({ policy }) => policy),
      options,
    )
    this.limiter = this.decider
    this.respond = options.respond
    this.onDecision = options.onDecision
  }

  /**
   * Decides a request; at once where nothing in its way is asynchronous. Undefined: it is exempt.
   * Throws, or rejects, with what a function of the user's throws.
   */
  check(request: Request): MaybePromise<Verdict | undefined> {
    if (isPreflight(this.framework, request)) return undefined
    const { skip } = this.plan
    if (skip === undefined) return this.charge(request)
    return then(skip(request), (skipped) => (skipped ? undefined : this.charge(request)))
  }

  /**
   * Writes the rate-limit fields, joined with those that an earlier limiter has written: returns
   * what they say then.
   */
  writeFields(
    { state }: Verdict,
    earlier: WireState | undefined,
    set: SetField,
  ): WireState | undefined {
    if (state === undefined) return earlier
    const joined = earlier === undefined ? state : joinStates(earlier, state)
    this.plan.profile.write(joined, set)
    return joined
  }

  private charge(request: Request): MaybePromise<Verdict> {
    return then(readCharges(this.plan.rules, request), (charges) =>
      then(this.decider.decide(charges), (decision) => this.judge(request, charges, decision)),
    )
  }

  private judge(request: Request, charges: readonly Charge[], decision: Decision): Verdict {
    this.report(decision, request)
    const items: WireItem[] = []
    const violated: WireItem[] = []
    for (let i = 0; i < charges.length; i += 1) {
      const policy = decision.policies[i] as PolicyDecision
      const item = {
        policy: this.wirePolicy((charges[i] as Charge).quota, policy),
        remaining: policy.remaining,
        effectiveMs: policy.effectiveMs,
      }
      items.push(item)
      if (!policy.allowed) violated.push(item)
    }
    const state = { items, violated, now: decision.at }
    const { dryRun, profile } = this.plan
    const refusal = decision.allowed || dryRun ? undefined : this.refuse(state, charges)
    const told = !dryRun && profile.fields.length > 0
    return { decision, state: told ? state : undefined, refusal }
  }

  private refuse(state: WireState, charges: readonly Charge[]): Refusal {
    const { statusCode, retryAfterJitter } = this.plan
    const longest = longestWait(state.violated) as WireItem
    const retryAfter = retryAfterSeconds(longest.effectiveMs, {
      now: state.now,
      windowMs: longest.policy.windowMs as number,
      jitter: retryAfterJitter,
      seed: (charges[state.items.indexOf(longest)] as Charge).key,
    })
    // The fields say the same as Retry-After, jitter included.
    longest.effectiveMs = retryAfter * 1000
    return {
      status: statusCode,
      retryAfter,
      mediaType: PROBLEM_MEDIA_TYPE,
      body: problemBody(statusCode, state.violated),
    }
  }

  private wirePolicy(quota: Quota, { name, limit, windowMs }: PolicyDecision): WirePolicy {
    let policy = this.wirePolicies.get(quota)
    if (policy === undefined) {
      policy = new WirePolicy({ name, quota: limit, windowMs })
      this.wirePolicies.set(quota, policy)
    }
    return policy
  }

  private report(decision: Decision, request: Request): void {
    try {
      this.onDecision?.(decision, request)
    } catch (error) {
      warnOnce(
        'SLUICE_ON_DECISION',
        `onDecision threw ${String(error)}. The request goes on; mend the function.`,
      )
    }
  }
}

/** Reads what a request is to be charged. */
function readCharges<Request>(
  rules: readonly ChargeRule<Request>[],
  request: Request,
): MaybePromise<Charge[]> {
  const charges: Charge[] = []
  let pending: Promise<void>[] | undefined
  for (let i = 0; i < rules.length; i += 1) {
    const rule = rules[i] as ChargeRule<Request>
    const key = rule.key(request)
    const limit = rule.limit?.(request)
    const cost = typeof rule.cost === 'number' ? rule.cost : rule.cost(request)
    if (!isPromise(key) && !isPromise(limit) && !isPromise(cost)) {
      charges[i] = toCharge(rule, key, limit, cost)
      continue
    }
    pending ??= []
    pending.push(
      Promise.all([key, limit, cost]).then((values) => {
        charges[i] = toCharge(rule, ...values)
      }),
    )
  }
  return pending === undefined ? charges : Promise.all(pending).then(() => charges)
}

function toCharge<Request>(
  { policy, cost: given }: ChargeRule<Request>,
  key: string,
  limit: unknown,
  cost: unknown,
): Charge {
  return {
    key,
    quota: policy.quota ?? policy.quotaFor(limit),
    cost: cost === given ? (cost as number) : checkCost(cost),
  }
}
