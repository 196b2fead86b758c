import { readCharges } from './charges.ts'
import { type Decision, outright, type PolicyDecision } from './decision.ts'
import { joinStates } from './http/join-states.ts'
import type { SetField } from './http/profiles/index.ts'
import { spareRedirects } from './http/redirects.ts'
import { denial, type Refusal, refusalOf, renameViolated, unavailability } from './http/refusal.ts'
import { WireBook } from './http/wire-book.ts'
import type { WireItem, WireState } from './http/wire-state.ts'
import { noteWritten, readWritten } from './http/written.ts'
import { LEFT, orLeft } from './key/left.ts'
import type { KeyKind } from './key/notation.ts'
import { isPromise, type MaybePromise, then } from './maybe-promise.ts'
import { compilePlan, type Plan } from './options/compile.ts'
import type { RateLimitOptions } from './options/rate-limit-options.ts'
import { PolicyLimiter } from './policy-limiter.ts'
import { report } from './report.ts'
import { type Framework, isPreflight } from './request.ts'
import { settleInTime } from './settle-in-time.ts'
import { Settlement } from './settlement.ts'
import type { Charge } from './stores/store.ts'
import { WaitingRoom, withoutPlace } from './waiting.ts'

/** What is to be done with a request that was decided. */
export interface Verdict {
  readonly decision: Decision
  /** How the policies stand, for the header fields. Undefined: none are to be sent. */
  readonly state: WireState | undefined
  /** Undefined: the request goes on, by `Gate.admit`. */
  readonly refusal: Refusal | undefined
  /** What it was charged. */
  readonly charges: readonly Charge[]
}

const NONE: readonly WireItem[] = []

type Identified = Charge[] | 'allow' | 'deny' | typeof LEFT

/** Of a request whose client has gone, and can't be known any more: it ends here, uncharged. */
const left: Verdict = {
  decision: outright(false, 0, Infinity),
  state: undefined,
  refusal: undefined,
  charges: [],
}

/**
 * The main path: request → key → policies → limiter → decision → verdict. Knows no framework:
 * an adapter reads the facts of its requests for it and carries out what it says.
 */
export class Gate<Request, Response> {
  readonly limiter: PolicyLimiter
  readonly options: RateLimitOptions<Request, Response>
  readonly framework: Framework<Request, Response>
  /** Sets its keys apart from those of other gates on the same store. */
  readonly scope: string
  private readonly plan: Plan<Request, Response>
  private readonly wire: WireBook
  private readonly waitingRoom: WaitingRoom

  /** @throws SluiceError for wrong options */
  constructor(
    options: RateLimitOptions<Request, Response>,
    framework: Framework<Request, Response>,
    scope = '',
  ) {
    this.options = options
    this.framework = framework
    this.scope = scope
    this.plan = compilePlan(options, framework)
    this.limiter = new PolicyLimiter(
      this.plan.rules.map(({ policy }) => policy),
      options,
      scope,
      this.plan.settles,
    )
    this.wire = new WireBook(this.plan.partitionSecret)
    this.waitingRoom = new WaitingRoom(this.plan.maxWaiting)
  }

  /** Whether something settles, so that `admit` watches the response. */
  get settles(): boolean {
    return this.plan.settles
  }

  get ipv6Prefix(): number {
    return this.plan.ipv6Prefix
  }

  /** Of what kinds the keys of its policies are, beside addresses. */
  get keyKinds(): readonly KeyKind[] {
    return this.plan.keyKinds
  }

  /**
   * Decides a request; at once where nothing in its way is asynchronous. Undefined: it is exempt.
   * Throws, or rejects, with what a function of the user's throws.
   */
  check(request: Request): MaybePromise<Verdict | undefined> {
    const { skip, access } = this.plan
    const preflight = isPreflight(this.framework.incoming(request))
    if (preflight && !access?.denies) return undefined
    const proceed = () => (preflight ? this.checkPreflight(request) : this.decide(request))
    if (skip === undefined) return proceed()
    return then(skip(request), (skipped) => (skipped ? undefined : proceed()))
  }

  /** Writes the rate-limit fields, joined with those of the limiters that the response has passed. */
  writeFields({ state, refusal }: Verdict, response: Response, set: SetField): void {
    if (state === undefined) return
    const outgoing = this.framework.outgoing(response)
    const earlier = readWritten(outgoing)
    const joined = earlier === undefined ? state : joinStates(earlier, state)
    noteWritten(outgoing, joined)
    this.plan.profile.write(joined, set)
    if (refusal === undefined) spareRedirects(joined, this.plan.profile, outgoing)
    else if (earlier !== undefined) renameViolated(refusal, joined)
  }

  /**
   * Lets a request go on: when its turn comes, and with its charge settled at the end.
   * @returns false if the client has gone away before its turn, or before it was known
   */
  admit(verdict: Verdict, request: Request, response: Response): MaybePromise<boolean> {
    if (verdict === left) return false
    const { decision, charges } = verdict
    const outgoing = this.framework.outgoing(response)
    const { rules, settles } = this.plan
    if (settles && decision.allowed && charges.length > 0) {
      const settlement = new Settlement(this.limiter, rules, charges, decision, request, response)
      const settled = decision.policies.filter((_, i) => rules[i]?.settle !== undefined)
      settleInTime(settlement, outgoing, settled)
    }
    if (!this.waits(decision)) return true
    return this.waitingRoom.hold(waitingKey(charges, decision), decision.delayMs, outgoing)
  }

  private decide(request: Request): MaybePromise<Verdict | undefined> {
    return then(this.identify(request), (found) => {
      if (!Array.isArray(found)) return this.judgeListed(request, found)
      return then(this.limiter.decide(found), (decision) => this.judge(request, found, decision))
    })
  }

  /** A preflight has no credentials: one whose key can't be read is let through. */
  private checkPreflight(request: Request): MaybePromise<Verdict | undefined> {
    const judge = (found: Identified) =>
      Array.isArray(found) || found === 'allow' ? undefined : this.judgeListed(request, found)
    try {
      const found = this.identify(request)
      return isPromise(found) ? found.then(judge, () => undefined) : judge(found)
    } catch {
      return undefined
    }
  }

  /** What a request is charged, unless its client is on a list, or can't be known any more. */
  private identify(request: Request): MaybePromise<Identified> {
    const { access, rules } = this.plan
    return then<Identified, Identified>(
      orLeft(() => access?.ofAddress(request) ?? readCharges(rules, request)),
      (found) => (Array.isArray(found) ? (access?.ofKeys(found) ?? found) : found),
    )
  }

  private judge(request: Request, charges: readonly Charge[], decided: Decision): Verdict {
    if (decided.policies.length === 0) return this.judgeUnasked(request, charges, decided)
    const decision = this.seat(charges, decided)
    report(this.options.onDecision, decision, request)
    const items = [this.itemOf(charges[0] as Charge, decision.policies[0] as PolicyDecision)]
    for (let i = 1; i < charges.length; i += 1) {
      items.push(this.itemOf(charges[i] as Charge, decision.policies[i] as PolicyDecision))
    }
    const violated = decision.allowed
      ? NONE
      : items.filter((_, i) => decision.policies[i]?.allowed === false)
    const state = { items, violated, now: decision.at }
    const { dryRun, profile } = this.plan
    const refusal = decision.allowed || dryRun ? undefined : refusalOf(state, charges, this.plan)
    const told = !dryRun && profile.fields.length > 0
    return { decision, state: told ? state : undefined, refusal, charges }
  }

  private itemOf(charge: Charge, decision: PolicyDecision): WireItem {
    const { remaining, effectiveMs } = decision
    return { policy: this.wire.policy(charge, decision), remaining, effectiveMs }
  }

  /** What becomes of a request that no policy was asked about, because the store failed. */
  private judgeUnasked(request: Request, charges: readonly Charge[], decision: Decision): Verdict {
    report(this.options.onDecision, decision, request)
    const refused = !decision.allowed && !this.plan.dryRun
    const refusal = refused ? unavailability(decision, charges, this.plan) : undefined
    return { decision, state: undefined, refusal, charges: [] }
  }

  /** An admitted request that has to wait needs a place to wait in; without one it is refused. */
  private seat(charges: readonly Charge[], decision: Decision): Decision {
    if (!this.waits(decision)) return decision
    if (this.waitingRoom.take(waitingKey(charges, decision))) return decision
    const back = charges.map((charge) => ({ ...charge, cost: -charge.cost }))
    // What the store fails to take back drains by itself.
    void Promise.resolve(this.limiter.settleCharges(back, decision)).catch(() => {})
    return withoutPlace(decision)
  }

  private waits({ allowed, delayMs }: Decision): boolean {
    return allowed && delayMs > 0 && !this.plan.dryRun
  }

  private judgeListed(
    request: Request,
    source: 'allow' | 'deny' | typeof LEFT,
  ): Verdict | undefined {
    // A dry run keeps no request from the application.
    if (source === LEFT) return this.plan.dryRun ? undefined : left
    const allowed = source === 'allow'
    const decision = outright(allowed, Date.now(), allowed ? 0 : Infinity)
    report(this.options.onDecision, decision, request)
    const denied = source === 'deny' && !this.plan.dryRun
    return { decision, state: undefined, refusal: denied ? denial : undefined, charges: [] }
  }
}

/** The key that a request waits for: that of the policy with the longest delay. */
function waitingKey(charges: readonly Charge[], { delayMs, policies }: Decision): string {
  return (charges[policies.findIndex((each) => each.delayMs === delayMs)] as Charge).key
}
