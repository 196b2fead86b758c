import { WaitError } from '../errors/wait-error.ts'
import { consumeTraces } from '../events.ts'
import { addressKey } from '../key/address.ts'
import type { BannedQuota } from '../limiter/ban.ts'
import {
  asRefusal,
  certainWaitMs,
  type Decision,
  decisionWithoutPolicy,
  type PolicyDecision,
  refusingPolicy,
} from '../limiter/decision.ts'
import { callOnDecision } from '../limiter/limiter-events.ts'
import type { Policy } from '../limiter/policy.ts'
import { StoreLimiter } from '../limiter/store-limiter.ts'
import { type MaybePromise, then } from '../maybe-promise.ts'
import { MAIN, type Scope } from '../stores/inspection/scope.ts'
import { madeOf, undone } from '../stores/rules/slots.ts'
import type { Charge } from '../stores/store.ts'
import { type CompiledOptions, compileOptions, routeOf } from './compile-options.ts'
import { PolicyTexts } from './fields/field-state.ts'
import { CLIENT_GONE } from './keys/key-reader.ts'
import { MiddlewareKeys } from './keys/middleware-keys.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'
import { denialOf, refusalOf, unavailability } from './refusal/refusal.ts'
import type { RequestAdapter } from './request-adapter.ts'
import { type Reading, readRequest } from './request-reading.ts'
import { clientGone, isDecided, Responder, type Verdict, verdictWithoutPolicy } from './respond.ts'
import { Turns } from './turns.ts'

const noViolations: readonly number[] = []

function isDryRun({ dryRun }: PolicyDecision): boolean {
  return dryRun === true
}

/** An admission that would have to wait, and finds no place to. */
function asTurnedAway(decision: Decision): Decision {
  return asRefusal(decision, ({ delayMs }) => delayMs)
}

/** Lets the body of a request flow again if that goes on. */
export function resuming(resume: () => void): (goesOn: boolean) => boolean {
  return (goesOn) => {
    if (goesOn) resume()
    return goesOn
  }
}

/**
 * The main path: request → key → policies → limiter → decision → verdict. Knows no framework and
 * no platform: an adapter reads requests and writes responses.
 */
export class HttpLimiter<Request, Response> {
  readonly limiter: StoreLimiter
  readonly options: RateLimitOptions<Request, Response>
  readonly compiled: CompiledOptions<Request, Response>
  /** Separates its keys from those of other limiters on the same store. */
  readonly scope: Scope
  readonly #texts: PolicyTexts
  readonly #turns: Turns
  /** The index of the first policy that is a queue; -1: no request waits. */
  readonly #queued: number
  /** Whether requests that would be refused wait. */
  readonly #waits: boolean
  /** Whether a policy may refuse nothing. */
  readonly #mayBeDry: boolean
  /** Whether something ends if the client of a request leaves. */
  readonly #observesClients: boolean
  readonly #responder: Responder<Request, Response>

  /**
   * @param route the pattern of the only route whose requests it decides
   * @param siblings all limiters of the middleware: where the application calls this one, it calls all of them
   * @param apart the entry in `routes`, if that has limits of its own
   * @throws SluiceError for wrong options
   */
  constructor(
    options: RateLimitOptions<Request, Response>,
    adapter: RequestAdapter<Request, Response>,
    scope = MAIN,
    route?: string,
    bannedQuota?: BannedQuota,
    siblings?: ConstructorParameters<typeof MiddlewareKeys>[1],
    apart?: string,
  ) {
    this.options = options
    this.scope = scope
    this.compiled = compileOptions(options, adapter, route)
    const { policies, settles, dryRun, partitionSecret } = this.compiled
    const sharesQuotas = bannedQuota !== undefined
    const use = { scope, settles, dryRun, bannedQuota, sharesQuotas, route: apart }
    const clients = siblings && new MiddlewareKeys(this.compiled.ipv6Prefix, siblings)
    this.limiter = new StoreLimiter(policies, options, use, clients)
    this.#texts = new PolicyTexts(partitionSecret)
    this.#turns = new Turns(this.limiter.maxWaiting)
    const isQueue = ({ algorithm }: Policy) => algorithm.options.maxDelay !== undefined
    this.#queued = dryRun ? -1 : policies.findIndex(isQueue)
    this.#mayBeDry = policies.some(({ enforced, live }) => enforced < 1 || live !== undefined)
    const { followsUp, maxWait } = this.compiled
    this.#waits = maxWait !== undefined && !dryRun
    this.#observesClients = followsUp || this.#queued >= 0 || this.#waits
    this.#responder = new Responder(this.compiled, this.limiter, this.#turns)
  }

  /**
   * Decides a request and carries out the verdict; synchronously unless something is asynchronous.
   * Throws, or rejects, with what is for the application's error handler: what a function of the
   * user's throws, and the `RateLimitError` of `respond: 'throw'`.
   *
   * A request that it has decided before goes on: the first verdict has been carried out, and stands.
   * If that was a refusal, the application has let the request go on.
   *
   * @param subject what is decided once; default: the request, by its `identity`
   * @returns whether the request goes on to the application; false if it ends here
   */
  handle(
    request: Request,
    response: Response,
    subject: object = this.compiled.adapter.identity(request),
  ): MaybePromise<boolean> {
    if (isDecided(subject, this.#responder)) return true
    if (this.#observesClients) this.compiled.adapter.observeClient?.(response)
    const verdict = this.decide(request, response)
    const passed =
      verdict instanceof Promise
        ? verdict.then(
            (each) =>
              each === undefined || this.#responder.respond(each, request, response, subject),
          )
        : verdict === undefined || this.#responder.respond(verdict, request, response, subject)
    if (!(passed instanceof Promise)) return passed
    const resume = this.compiled.adapter.pauseBody?.(request, response)
    return resume === undefined ? passed : passed.then(resuming(resume))
  }

  /**
   * Decides a request; synchronously unless something is asynchronous. Undefined: it is exempt.
   * Throws, or rejects, with what a user's function throws.
   *
   * @param response left out: the request does not wait
   */
  decide(
    request: Request,
    response?: Response,
    reading: MaybePromise<Reading> = readRequest(this.compiled, request, this.limiter.networks),
  ): MaybePromise<Verdict | undefined> {
    if (reading instanceof Promise)
      return reading.then((each) => this.decide(request, response, each))
    if (!Array.isArray(reading)) return this.#verdictWithoutCharges(request, reading)
    const startedAt = this.limiter.events.isWatched ? performance.now() : undefined
    const route = consumeTraces.hasSubscribers ? routeOf(this.compiled, request) : undefined
    if (this.#queued >= 0) return this.#decideQueued(request, reading, startedAt, route)
    if (response !== undefined && this.#waits)
      return this.#decideOrWait(request, response, reading, startedAt, route)
    const decision: MaybePromise<Decision> = this.limiter.decide(reading, route)
    return decision instanceof Promise
      ? decision.then((each) => this.#verdictOf(request, reading, each, startedAt))
      : this.#verdictOf(request, reading, decision, startedAt)
  }

  /**
   * Decides a request that may have to wait for its turn. It gets a place to wait before it is charged: a turn in a
   * queue can be given back only while nobody is behind it. Without a place it is charged only if it need not wait.
   */
  #decideQueued(
    request: Request,
    charges: readonly Charge[],
    startedAt: number | undefined,
    route: string | undefined,
  ): MaybePromise<Verdict> {
    const { limiter } = this
    const { key } = charges[this.#queued] as Charge
    const charge = (place: string | undefined) =>
      this.#orFree(place, () =>
        then(limiter.decide(charges, route), (decision) =>
          this.#verdictOf(request, charges, decision, startedAt, place),
        ),
      )
    if (this.#turns.acquire(key)) return charge(key)
    return then(limiter.preview(charges), (peeked): MaybePromise<Verdict> => {
      if (peeked.delayMs === 0) return charge(undefined)
      if (this.#turns.acquire(key)) return charge(key)
      return this.#verdictOf(request, charges, asTurnedAway(peeked), startedAt)
    })
  }

  /** Decides a request that waits instead of being refused, and comes after those that wait for the same. */
  #decideOrWait(
    request: Request,
    response: Response,
    charges: readonly Charge[],
    startedAt: number | undefined,
    route: string | undefined,
  ): MaybePromise<Verdict> {
    const awaited = this.limiter.waiting.awaitedKey(charges)
    if (awaited !== undefined) return this.#wait(request, response, charges, awaited, startedAt)
    return then(this.limiter.decide(charges, route), (decision): MaybePromise<Verdict> => {
      const { allowed, ban, policies } = decision
      const isFinal = allowed || ban !== undefined || policies.length === 0
      if (isFinal || certainWaitMs(decision) > (this.compiled.maxWait as number))
        return this.#verdictOf(request, charges, decision, startedAt)
      const { key } = charges[refusingPolicy(decision)] as Charge
      return this.#wait(request, response, charges, key, startedAt)
    })
  }

  /** @param queueKey the key for which it waits */
  async #wait(
    request: Request,
    response: Response,
    charges: readonly Charge[],
    queueKey: string,
    startedAt: number | undefined,
  ): Promise<Verdict> {
    const { adapter, ipv6Prefix, maxWait, priority, readAddress } = this.compiled
    const [{ key }] = charges as [Charge]
    const client = addressKey(readAddress(request), ipv6Prefix) ?? key
    const leaving = new AbortController()
    const { signal } = leaving
    const unwatch = adapter.whenClosed(response, () => leaving.abort())
    let decision: Decision
    try {
      const given = typeof priority === 'function' ? await priority(request, key) : priority
      const options = { maxWait, priority: given, signal }
      decision = await this.limiter.waiting.wait(charges, options, { queueKey, client })
    } catch (error) {
      if (!(error instanceof WaitError)) throw error
      if (error.code === 'SLUICE_WAIT_ABORTED') return clientGone
      decision = await this.#refusedNow(charges, queueKey, error)
    } finally {
      unwatch()
    }
    // The time of a decision is not that of the wait before it.
    return this.#verdictOf(request, charges, decision, startedAt && performance.now())
  }

  /** Refuses a request that has waited in vain, or would. Those who wait come before it. */
  async #refusedNow(
    charges: readonly Charge[],
    queueKey: string,
    { retryAfterMs }: WaitError,
  ): Promise<Decision> {
    const decision = await this.limiter.preview(charges)
    const waited = charges.findIndex(({ key, dryRun }) => key === queueKey && !dryRun)
    const name = decision.policies[waited]?.name
    return asRefusal(decision, (each) =>
      each.name === name ? Math.max(1, retryAfterMs, each.retryAfterMs) : each.retryAfterMs,
    )
  }

  /** A failure frees the place that was taken. */
  #orFree<T>(place: string | undefined, act: () => MaybePromise<T>): MaybePromise<T> {
    if (place === undefined) return act()
    const failed = (error: unknown): never => {
      this.#turns.free(place)
      throw error
    }
    try {
      const done = act()
      return done instanceof Promise ? done.catch(failed) : done
    } catch (error) {
      return failed(error)
    }
  }

  /**
   * @param startedAt when the decision began, ms; undefined if nobody listened then
   * @param place the key for which a place to wait has been taken
   */
  #verdictOf(
    request: Request,
    asked: readonly Charge[],
    decided: Decision,
    startedAt: number | undefined,
    place?: string,
  ): Verdict {
    const { compiled, limiter } = this
    const hasDryRun = this.#mayBeDry && decided.policies.some(isDryRun)
    const charges = hasDryRun ? madeOf(asked, decided.policies) : asked
    const { dryRun, onDecision, profile, respond } = compiled
    const waits = decided.delayMs > 0 && !dryRun
    if (place !== undefined && !waits) this.#turns.free(place)
    const turn = waits ? this.#takeTurn(charges, decided, place) : undefined
    const isTurnedAway = waits && turn === undefined
    const decision = isTurnedAway ? asTurnedAway(decided) : decided
    if (startedAt !== undefined) {
      const durationMs = performance.now() - startedAt
      limiter.events.decided(decision, charges, routeOf(compiled, request), durationMs)
    }
    const [{ key }] = charges as [Charge]
    if (onDecision !== undefined) callOnDecision(onDecision, decision, request, key)
    const { allowed, policies } = decision
    if (policies.length === 0) {
      const isRefused = !allowed && !dryRun
      const refusal = isRefused ? unavailability(decision, key, compiled) : undefined
      return verdictWithoutPolicy(decision, refusal)
    }
    const goesOn = allowed || dryRun || respond === 'continue'
    const isHidden = hasDryRun && !compiled.showsDryRuns
    const isShown = (_: unknown, i: number) => !policies[i]?.dryRun
    const shown = isHidden ? policies.filter(isShown) : policies
    // Of all policies: which are hidden differs by client.
    const allTexts = this.#texts.of(policies)
    const texts = isHidden ? allTexts.filter(isShown) : allTexts
    const violated = goesOn
      ? noViolations
      : shown.flatMap((each, i) => (each.allowed || each.dryRun ? [] : [i]))
    const state = { policies: shown, texts, violated }
    const refusal = goesOn ? undefined : refusalOf(state, key, compiled, decision.ban !== undefined)
    const hasFields = !dryRun && profile.groups.length > 0 && shown.length > 0
    return {
      decision,
      state: hasFields ? (refusal?.state ?? state) : undefined,
      refusal,
      charges,
      turn,
    }
  }

  /**
   * Takes a turn for an admitted request that must wait, else gives its charges back.
   * @param place the key for which a place to wait has been taken
   * @returns the key that has taken the turn: that of the policy with the longest delay
   */
  #takeTurn(
    charges: readonly Charge[],
    decision: Decision,
    place: string | undefined,
  ): string | undefined {
    const { delayMs, policies } = decision
    const { key } = charges[policies.findIndex((each) => each.delayMs === delayMs)] as Charge
    if (place === key) return key
    if (place !== undefined) this.#turns.free(place)
    if (this.#turns.acquire(key)) return key
    // A charge that the store fails to take back drains by itself.
    void Promise.resolve(this.limiter.correct(undone(charges), decision)).catch(() => {})
    return undefined
  }

  /** The verdict about a request that is exempt, whose client is on a list or in a blocked network, or has gone. */
  #verdictWithoutCharges(
    request: Request,
    reading: Exclude<Reading, Charge[]>,
  ): Verdict | undefined {
    const { compiled } = this
    const { events } = this.limiter
    const { isWatched } = events
    if (reading === 'skip' || reading === 'preflight') {
      if (isWatched)
        events.decided(
          decisionWithoutPolicy(true, 0, 0),
          [],
          routeOf(compiled, request),
          0,
          reading,
        )
      return undefined
    }
    // A dry run keeps no request from the application.
    if (reading === CLIENT_GONE) return compiled.dryRun ? undefined : clientGone
    if ('charges' in reading) {
      const { charges, blockedMs } = reading
      const decision = this.limiter.refuseNetwork(charges, blockedMs)
      return this.#verdictOf(request, charges, decision, isWatched ? performance.now() : undefined)
    }
    const { source, key } = reading
    const allowed = source === 'allow'
    const decision = decisionWithoutPolicy(allowed, Date.now(), allowed ? 0 : Infinity)
    if (isWatched) events.decided(decision, [], routeOf(compiled, request), 0, 'list')
    callOnDecision(compiled.onDecision, decision, request, key)
    return verdictWithoutPolicy(decision, allowed || compiled.dryRun ? undefined : denialOf(key))
  }
}
