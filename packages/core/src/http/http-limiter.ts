import { consumeTraces } from '../events.ts'
import type { KeyKind } from '../key/notation.ts'
import type { BanPlace } from '../limiter/ban.ts'
import { type Decision, decisionWithoutPolicy, type PolicyDecision } from '../limiter/decision.ts'
import { callOnDecision } from '../limiter/on-decision.ts'
import { StoreLimiter } from '../limiter/store-limiter.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { MAIN, type Scope } from '../stores/inspection/scope.ts'
import type { Charge } from '../stores/store.ts'
import { type CompiledOptions, compileOptions } from './compile-options.ts'
import { PolicyTexts } from './fields/policy-texts.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'
import { denialOf, refusalOf, unavailability } from './refusal/refusal.ts'
import type { RequestAdapter } from './request-adapter.ts'
import { CLIENT_GONE, type Reading, RequestReader } from './request-reading.ts'
import { Turns, withoutTurn } from './response/delay.ts'
import { clientGone, type Verdict } from './verdict.ts'
import { VerdictResponder, waitingKey, waits } from './verdict-responder.ts'

const NONE: readonly number[] = []

/**
 * The main path: request → key → policies → limiter → decision → verdict. Knows no framework and
 * no platform: an adapter reads requests and writes responses.
 */
export class HttpLimiter<Request, Response> {
  readonly limiter: StoreLimiter
  readonly options: RateLimitOptions<Request, Response>
  readonly adapter: RequestAdapter<Request, Response>
  /** Separates its keys from those of other limiters on the same store. */
  readonly scope: Scope
  /** The pattern of the only route whose requests it decides. */
  private readonly route: string | undefined
  private readonly compiled: CompiledOptions<Request, Response>
  private readonly reader: RequestReader<Request, Response>
  private readonly texts: PolicyTexts
  private readonly turns: Turns
  private readonly responder: VerdictResponder<Request, Response>

  /** @throws SluiceError for wrong options */
  constructor(
    options: RateLimitOptions<Request, Response>,
    adapter: RequestAdapter<Request, Response>,
    scope = MAIN,
    route?: string,
    banPlace?: BanPlace,
  ) {
    this.options = options
    this.adapter = adapter
    this.scope = scope
    this.route = route
    this.compiled = compileOptions(options, adapter)
    this.reader = new RequestReader(this.compiled, adapter, options.trustProxy)
    this.limiter = new StoreLimiter(
      this.compiled.rules.map(({ policy }) => policy),
      options,
      {
        scope,
        settles: this.compiled.settles,
        dryRun: this.compiled.dryRun,
        banPlace,
        sharesQuotas: banPlace !== undefined,
      },
    )
    this.texts = new PolicyTexts(this.compiled.partitionSecret)
    this.turns = new Turns(this.compiled.maxWaiting)
    this.responder = new VerdictResponder(
      adapter,
      options.respond,
      this.limiter,
      this.compiled,
      this.turns,
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
   * @returns whether the request goes on to the application; false if it ends here
   */
  handle(request: Request, response: Response): MaybePromise<boolean> {
    const verdict = this.decide(request)
    return verdict instanceof Promise
      ? verdict.then((each) => this.responder.respond(each, request, response))
      : this.responder.respond(verdict, request, response)
  }

  /**
   * Decides a request; synchronously unless something is asynchronous. Undefined: it is exempt.
   * Throws, or rejects, with what a user's function throws.
   */
  decide(request: Request): MaybePromise<Verdict | undefined> {
    const reading = this.reader.read(request)
    return reading instanceof Promise
      ? reading.then((each) => this.decideReading(request, each))
      : this.decideReading(request, reading)
  }

  private decideReading(request: Request, reading: Reading): MaybePromise<Verdict | undefined> {
    if (!Array.isArray(reading)) return this.verdictWithoutPolicies(request, reading)
    const startedAt = this.limiter.isWatched ? performance.now() : undefined
    const route = consumeTraces.hasSubscribers ? this.routeOf(request) : undefined
    const decision: MaybePromise<Decision> = this.limiter.decide(reading, route)
    return decision instanceof Promise
      ? decision.then((each) => this.verdictOf(request, reading, each, startedAt))
      : this.verdictOf(request, reading, decision, startedAt)
  }

  /** @param startedAt when the decision began, ms; undefined if nobody listened then */
  private verdictOf(
    request: Request,
    charges: readonly Charge[],
    decided: Decision,
    startedAt: number | undefined,
  ): Verdict {
    const { dryRun, profile } = this.compiled
    const { onDecision, respond } = this.options
    const decision = decided.delayMs > 0 ? this.takeTurn(charges, decided) : decided
    if (startedAt !== undefined) {
      const durationMs = performance.now() - startedAt
      this.limiter.events.decided(decision, charges, this.routeOf(request), durationMs)
    }
    if (onDecision !== undefined)
      callOnDecision(onDecision, decision, request, (charges[0] as Charge).key)
    const { policies, at: now } = decision
    if (policies.length === 0) return this.storeFailureVerdict(charges, decision)
    const goesOn = decision.allowed || dryRun || respond === 'continue'
    const violated = goesOn ? NONE : refusing(policies)
    const state = { policies, texts: this.texts.of(policies), violated, now }
    const refusal = goesOn
      ? undefined
      : refusalOf(state, charges, this.compiled, decision.ban !== undefined)
    const hasFields = !dryRun && profile.fields.length > 0
    return { decision, state: hasFields ? (refusal?.state ?? state) : undefined, refusal, charges }
  }

  /** The pattern of a request's route, if it is known by now. */
  private routeOf(request: Request): string | undefined {
    const route = this.adapter.route?.(request)
    return route === undefined ? this.route : String(route)
  }

  /** The verdict about a request that no policy has decided, because the store failed. */
  private storeFailureVerdict(charges: readonly Charge[], decision: Decision): Verdict {
    const refused = !decision.allowed && !this.compiled.dryRun
    const refusal = refused ? unavailability(decision, charges, this.compiled) : undefined
    return { decision, state: undefined, refusal, charges: [] }
  }

  /** An admitted request that must wait needs a turn; without one it is refused. */
  private takeTurn(charges: readonly Charge[], decision: Decision): Decision {
    if (!waits(decision, this.compiled)) return decision
    if (this.turns.acquire(waitingKey(charges, decision))) return decision
    const back = charges.map((charge) => ({ ...charge, cost: -charge.cost }))
    // What the store fails to take back drains by itself.
    void Promise.resolve(this.limiter.correct(back, decision)).catch(() => {})
    return withoutTurn(decision)
  }

  /** The verdict about a request that is exempt, whose client is on a list, or has gone. */
  private verdictWithoutPolicies(
    request: Request,
    reading: Exclude<Reading, Charge[]>,
  ): Verdict | undefined {
    const { dryRun } = this.compiled
    const { events, isWatched } = this.limiter
    if (reading === 'skip' || reading === 'preflight') {
      if (isWatched)
        events.undecided(decisionWithoutPolicy(true, 0, 0), reading, this.routeOf(request))
      return undefined
    }
    // A dry run keeps no request from the application.
    if (reading === CLIENT_GONE) return dryRun ? undefined : clientGone
    const { source, key } = reading
    const allowed = source === 'allow'
    const decision = decisionWithoutPolicy(allowed, Date.now(), allowed ? 0 : Infinity)
    if (isWatched) events.undecided(decision, 'list', this.routeOf(request))
    callOnDecision(this.options.onDecision, decision, request, key)
    const refusal = allowed || dryRun ? undefined : denialOf(key)
    return { decision, state: undefined, refusal, charges: [] }
  }
}

/** The indexes of the policies that refuse. */
function refusing(policies: readonly PolicyDecision[]): number[] {
  return policies.flatMap(({ allowed }, i) => (allowed ? [] : [i]))
}
