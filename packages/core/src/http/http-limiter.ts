import { consumeTraces } from '../events.ts'
import type { KeyKind } from '../key/notation.ts'
import type { BanPlace } from '../limiter/ban.ts'
import { type Decision, outright, type PolicyDecision } from '../limiter/decision.ts'
import { report } from '../limiter/report.ts'
import { StoreLimiter } from '../limiter/store-limiter.ts'
import { isPromise, type MaybePromise, then, thenOwn } from '../maybe-promise.ts'
import type { Charge } from '../stores/store.ts'
import { type ChargeRule, type CompiledOptions, compileOptions } from './compile-options.ts'
import { PolicyTexts } from './fields/policy-texts.ts'
import type { Listed } from './keys/access-list.ts'
import { KeyOnDemand } from './keys/key-on-demand.ts'
import { LEFT, orLeft } from './keys/left.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'
import { readCharges } from './read-charges.ts'
import { denialOf, refusalOf, unavailability } from './refusal/refusal.ts'
import { isPreflight, type RequestAdapter } from './request-adapter.ts'
import { DelaySlots, withoutSlot } from './response/delay.ts'
import { left, type Verdict } from './verdict.ts'
import { VerdictResponder, waitingKey, waits } from './verdict-responder.ts'

const NONE: readonly number[] = []

type Identified = Charge[] | Listed | typeof LEFT

/**
 * The main path: request → key → policies → limiter → decision → verdict. Knows no framework and
 * no platform: an adapter reads requests and writes responses.
 */
export class HttpLimiter<Request, Response> {
  readonly limiter: StoreLimiter
  readonly options: RateLimitOptions<Request, Response>
  readonly adapter: RequestAdapter<Request, Response>
  /** Separates its keys from those of other limiters on the same store. */
  readonly scope: string
  /** The pattern of the only route whose requests it decides. */
  private readonly route: string | undefined
  private readonly compiled: CompiledOptions<Request, Response>
  private readonly texts: PolicyTexts
  private readonly delaySlots: DelaySlots
  private readonly responder: VerdictResponder<Request, Response>

  /** @throws SluiceError for wrong options */
  constructor(
    options: RateLimitOptions<Request, Response>,
    adapter: RequestAdapter<Request, Response>,
    scope = '',
    route?: string,
    banPlace?: BanPlace,
  ) {
    this.options = options
    this.adapter = adapter
    this.scope = scope
    this.route = route
    this.compiled = compileOptions(options, adapter)
    this.limiter = new StoreLimiter(
      this.compiled.rules.map(({ policy }) => policy),
      options,
      { scope, settles: this.compiled.settles, dryRun: this.compiled.dryRun, banPlace },
    )
    this.texts = new PolicyTexts(this.compiled.partitionSecret)
    this.delaySlots = new DelaySlots(this.compiled.maxWaiting)
    this.responder = new VerdictResponder(
      adapter,
      options.respond,
      this.limiter,
      this.compiled,
      this.delaySlots,
      (request) => this.routeOf(request),
    )
  }

  /** Whether something is settled or released at the end of responses, so that they are watched. */
  get settles(): boolean {
    return this.compiled.settles || this.compiled.holdsSlots
  }

  get ipv6Prefix(): number {
    return this.compiled.ipv6Prefix
  }

  /** The kinds of its policies' keys, besides addresses. */
  get keyKinds(): readonly KeyKind[] {
    return this.compiled.keyKinds
  }

  /** Whether a key, `allow` or `deny` needs the address of clients. */
  get needsAddress(): boolean {
    return this.compiled.needsAddress
  }

  /**
   * Decides a request and carries out the verdict; synchronously unless something is asynchronous.
   * Throws, or rejects, with what is for the application's error handler: what a function of the
   * user's throws, and the `RateLimitError` of `respond: 'throw'`.
   *
   * @param goOn hands the request on to the application: at most once, when its turn comes
   * @returns what `goOn` gives; undefined if the request ends here
   */
  handle<T>(
    request: Request,
    response: Response,
    goOn: () => MaybePromise<T>,
  ): MaybePromise<T | undefined> {
    const verdict = this.check(request)
    return verdict instanceof Promise
      ? verdict.then((each) => this.responder.carryOut(each, request, response, goOn))
      : this.responder.carryOut(verdict, request, response, goOn)
  }

  /**
   * Decides a request; synchronously unless something is asynchronous. Undefined: it is exempt.
   * Throws, or rejects, with what a user's function throws.
   */
  check(request: Request): MaybePromise<Verdict | undefined> {
    const { skip, access, rules } = this.compiled
    const preflight = isPreflight(this.adapter, request)
    if (preflight && !access?.denies) return this.exempt(request, 'preflight')
    if (skip === undefined) return this.proceed(request, preflight)
    const key = new KeyOnDemand((rules[0] as ChargeRule<Request, Response>).key, request)
    const asked = orLeft(() =>
      then(
        skip(request, () => key.read()),
        Boolean,
      ),
    )
    return thenOwn(asked, (skipped) => {
      if (skipped === LEFT) return this.accessListVerdict(request, LEFT)
      return skipped ? this.exempt(request, 'skip') : this.proceed(request, preflight, key.known)
    })
  }

  /** The pattern of a request's route, if it is known by now. */
  private routeOf(request: Request): string | undefined {
    const route = this.adapter.route?.(request)
    return route === undefined ? this.route : String(route)
  }

  private exempt(request: Request, source: 'skip' | 'preflight'): undefined {
    const { events } = this.limiter
    if (events.areWatched) events.undecided(outright(true, 0, 0), source, this.routeOf(request))
  }

  /** @param key of the first policy, if it has been read */
  private proceed(
    request: Request,
    preflight: boolean,
    key?: MaybePromise<string>,
  ): MaybePromise<Verdict | undefined> {
    return preflight ? this.checkPreflight(request, key) : this.decide(request, key)
  }

  private decide(
    request: Request,
    key: MaybePromise<string> | undefined,
  ): MaybePromise<Verdict | undefined> {
    const found = this.identify(request, key)
    return found instanceof Promise
      ? found.then((each) => this.decideIdentified(request, each))
      : this.decideIdentified(request, found)
  }

  private decideIdentified(request: Request, found: Identified): MaybePromise<Verdict | undefined> {
    if (!Array.isArray(found)) return this.accessListVerdict(request, found)
    const startedAt = this.limiter.events.areWatched ? performance.now() : undefined
    const route = consumeTraces.hasSubscribers ? this.routeOf(request) : undefined
    const decision: MaybePromise<Decision> = this.limiter.decide(found, route)
    return decision instanceof Promise
      ? decision.then((each) => this.toVerdict(request, found, each, startedAt))
      : this.toVerdict(request, found, decision, startedAt)
  }

  /** @param startedAt undefined if nobody listened when the decision began */
  private report(
    request: Request,
    charges: readonly Charge[],
    decision: Decision,
    startedAt: number | undefined,
  ): void {
    if (startedAt !== undefined) {
      const durationMs = performance.now() - startedAt
      this.limiter.events.decided(decision, charges, this.routeOf(request), durationMs)
    }
    report(this.options.onDecision, decision, request, (charges[0] as Charge).key)
  }

  /** A preflight has no credentials: one whose key can't be read is let through. */
  private checkPreflight(
    request: Request,
    key: MaybePromise<string> | undefined,
  ): MaybePromise<Verdict | undefined> {
    const exempt = () => this.exempt(request, 'preflight')
    const judge = (found: Identified) => {
      const goesOn = found !== LEFT && (Array.isArray(found) || found.source === 'allow')
      return goesOn ? exempt() : this.accessListVerdict(request, found as Listed | typeof LEFT)
    }
    let found: MaybePromise<Identified>
    try {
      found = this.identify(request, key)
    } catch {
      return exempt()
    }
    return isPromise(found) ? found.then(judge, exempt) : judge(found)
  }

  /** What a request is charged, unless its client is on a list, or is no longer known. */
  private identify(
    request: Request,
    key: MaybePromise<string> | undefined,
  ): MaybePromise<Identified> {
    const { access, rules } = this.compiled
    const found = orLeft<Identified>(
      () => access?.ofAddress(request) ?? readCharges(rules, request, key),
    )
    if (access === undefined) return found
    return thenOwn<Identified, Identified>(found, (each) =>
      Array.isArray(each) ? (access.ofKeys(each) ?? each) : each,
    )
  }

  private toVerdict(
    request: Request,
    charges: readonly Charge[],
    decided: Decision,
    startedAt: number | undefined,
  ): Verdict {
    const decision = this.acquireDelaySlot(charges, decided)
    this.report(request, charges, decision, startedAt)
    if (decision.policies.length === 0) return this.storeFailureVerdict(charges, decision)
    const { dryRun, profile } = this.compiled
    const { policies, at: now } = decision
    const goesOn = decision.allowed || dryRun || this.options.respond === 'continue'
    const violated = goesOn ? NONE : refusing(policies)
    const state = { policies, texts: this.texts.of(policies), violated, now }
    const refusal = goesOn
      ? undefined
      : refusalOf(state, charges, this.compiled, decision.ban !== undefined)
    const hasFields = !dryRun && profile.fields.length > 0
    return { decision, state: hasFields ? (refusal?.state ?? state) : undefined, refusal, charges }
  }

  /** The verdict about a request that no policy has decided, because the store failed. */
  private storeFailureVerdict(charges: readonly Charge[], decision: Decision): Verdict {
    const refused = !decision.allowed && !this.compiled.dryRun
    const refusal = refused ? unavailability(decision, charges, this.compiled) : undefined
    return { decision, state: undefined, refusal, charges: [] }
  }

  /** An admitted request that must wait needs a delay slot; without one it is refused. */
  private acquireDelaySlot(charges: readonly Charge[], decision: Decision): Decision {
    if (!waits(decision, this.compiled)) return decision
    if (this.delaySlots.acquire(waitingKey(charges, decision))) return decision
    const back = charges.map((charge) => ({ ...charge, cost: -charge.cost }))
    // What the store fails to take back drains by itself.
    void Promise.resolve(this.limiter.correct(back, decision)).catch(() => {})
    return withoutSlot(decision)
  }

  private accessListVerdict(request: Request, listed: Listed | typeof LEFT): Verdict | undefined {
    // A dry run keeps no request from the application.
    if (listed === LEFT) return this.compiled.dryRun ? undefined : left
    const { source, key } = listed
    const allowed = source === 'allow'
    const decision = outright(allowed, Date.now(), allowed ? 0 : Infinity)
    const { events } = this.limiter
    if (events.areWatched) events.undecided(decision, 'list', this.routeOf(request))
    report(this.options.onDecision, decision, request, key)
    const denied = source === 'deny' && !this.compiled.dryRun
    return { decision, state: undefined, refusal: denied ? denialOf(key) : undefined, charges: [] }
  }
}

/** The indexes of the policies that refuse. */
function refusing(policies: readonly PolicyDecision[]): number[] {
  return policies.flatMap(({ allowed }, i) => (allowed ? [] : [i]))
}
