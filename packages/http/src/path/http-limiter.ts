import type { Charge, Decision, MaybePromise, PolicyDecision } from '@sluice/core'
import {
  andThen,
  type BannedQuota,
  callOnDecision,
  consumeTraces,
  decisionWithoutPolicy,
  limiterOn,
  MAIN,
  madeOf,
  type Scope,
  type StoreLimiter,
} from '@sluice/core/internal'
import { PolicyTexts } from '../fields/field-state.ts'
import { CLIENT_GONE } from '../keys/key-reader.ts'
import { middlewareKeys } from '../keys/middleware-keys.ts'
import { type CompiledOptions, compileOptions, routeOf } from '../options/compile-options.ts'
import type { RateLimitOptions } from '../options/options.generated.ts'
import { denialOf, refusalOf, unavailability } from '../refusal/refusal.ts'
import type { RequestAdapter } from '../request-adapter.ts'
import { type Reading, readRequest } from './request-reading.ts'
import { clientGone, isDecided, Responder, type Verdict, verdictWithoutPolicy } from './respond.ts'
import { inTurn } from './waiting/in-turn.ts'
import { Turns } from './waiting/turns.ts'
import { untilAdmitted } from './waiting/until-admitted.ts'
import type { Waited, WaitingStrategy } from './waiting/waiting-strategy.ts'

const noViolations: readonly number[] = []

function isDryRun({ dryRun }: PolicyDecision): boolean {
  return dryRun === true
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
  /** Undefined: no request waits. */
  readonly #strategy: WaitingStrategy<Request, Response> | undefined
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
    siblings?: Parameters<typeof middlewareKeys>[1],
    apart?: string,
  ) {
    this.options = options
    this.scope = scope
    this.compiled = compileOptions(options, adapter, route)
    const { policies, settles, dryRun, partitionSecret } = this.compiled
    const sharesQuotas = bannedQuota !== undefined
    const use = { scope, settles, dryRun, bannedQuota, sharesQuotas, route: apart }
    const clients = siblings && middlewareKeys(this.compiled.ipv6Prefix, siblings)
    this.limiter = limiterOn(policies, options, use, clients)
    this.#texts = new PolicyTexts(partitionSecret)
    this.#mayBeDry = policies.some(({ enforced, live }) => enforced < 1 || live !== undefined)
    const turns = new Turns(this.limiter.maxWaiting)
    const { followsUp, maxWait } = this.compiled
    const queue = policies.findIndex(({ algorithm }) => algorithm.options.maxDelay !== undefined)
    if (queue >= 0 && !dryRun) this.#strategy = inTurn(this.limiter, turns, queue)
    else if (maxWait !== undefined && !dryRun)
      this.#strategy = untilAdmitted(this.limiter, this.compiled, maxWait)
    this.#observesClients = followsUp || this.#strategy !== undefined
    this.#responder = new Responder(this.compiled, this.limiter, turns)
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
    if (response !== undefined && this.#strategy !== undefined)
      return andThen(this.#strategy(reading, request, response, route), (waited) =>
        waited === undefined ? clientGone : this.#verdictAfter(waited, request, reading, startedAt),
      )
    const decision: MaybePromise<Decision> = this.limiter.decide(reading, route)
    return decision instanceof Promise
      ? decision.then((each) => this.#verdictOf(request, reading, each, startedAt))
      : this.#verdictOf(request, reading, decision, startedAt)
  }

  #verdictAfter(
    { decision, hasWaited, turn }: Waited,
    request: Request,
    charges: readonly Charge[],
    startedAt: number | undefined,
  ): Verdict {
    // The time of a decision is not that of the wait before it.
    const since = hasWaited ? startedAt && performance.now() : startedAt
    return this.#verdictOf(request, charges, decision, since, turn)
  }

  /**
   * @param startedAt when the decision began, ms; undefined if nobody listened then
   * @param turn the key that has taken a turn for it
   */
  #verdictOf(
    request: Request,
    asked: readonly Charge[],
    decision: Decision,
    startedAt: number | undefined,
    turn?: string,
  ): Verdict {
    const { compiled, limiter } = this
    const hasDryRun = this.#mayBeDry && decision.policies.some(isDryRun)
    const charges = hasDryRun ? madeOf(asked, decision.policies) : asked
    const { dryRun, onDecision, profile, respond } = compiled
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
    const isHidden = hasDryRun && !profile.showsDryRuns
    const isShown = (_: unknown, i: number) => !policies[i]?.dryRun
    const shown = isHidden ? policies.filter(isShown) : policies
    // Of all policies: which are hidden differs by client.
    const allTexts = this.#texts.of(policies)
    const texts = isHidden ? allTexts.filter(isShown) : allTexts
    const violated = goesOn
      ? noViolations
      : shown.flatMap((each, i) => (each.allowed || each.dryRun ? [] : [i]))
    const state = {
      policies: shown,
      texts,
      violated,
      charges: isHidden ? asked.filter(isShown) : asked,
    }
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
