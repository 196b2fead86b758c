import type { Decision } from '../limiter/decision.ts'
import type { StoreLimiter } from '../limiter/store-limiter.ts'
import { type MaybePromise, then } from '../maybe-promise.ts'
import type { Charge } from '../stores/store.ts'
import type { CompiledOptions } from './compile-options.ts'
import { type FieldState, joinWritten } from './fields/field-state.ts'
import type { ReportedPolicy } from './fields/policy-texts.ts'
import { hideExhaustedOnRedirect } from './fields/redirects.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'
import { PROBLEM_MEDIA_TYPE, problemBody } from './refusal/problem.ts'
import { RateLimitError, type Refusal, writeRefusalFields } from './refusal/refusal.ts'
import type { RequestAdapter } from './request-adapter.ts'
import type { Turns } from './response/delay.ts'
import { releaseInTime } from './settlement/release-in-time.ts'
import { settleInTime } from './settlement/settle-in-time.ts'
import { Settlement } from './settlement/settlement.ts'
import { clientGone, type Verdict } from './verdict.ts'

/** Carries out verdicts, the same for every framework: fields, refusal, delay, settlement. */
export class VerdictResponder<Request, Response> {
  private readonly adapter: RequestAdapter<Request, Response>
  private readonly ownResponse: RateLimitOptions<Request, Response>['respond']
  private readonly limiter: StoreLimiter
  private readonly compiled: CompiledOptions<Request, Response>
  private readonly turns: Turns
  private readonly routeOf: (request: Request) => string | undefined
  /** Whether something follows every admission. */
  private readonly followsUp: boolean

  /** @param routeOf the pattern of a request's route, for events */
  constructor(
    adapter: RequestAdapter<Request, Response>,
    respond: RateLimitOptions<Request, Response>['respond'],
    limiter: StoreLimiter,
    compiled: CompiledOptions<Request, Response>,
    turns: Turns,
    routeOf: (request: Request) => string | undefined,
  ) {
    this.adapter = adapter
    this.ownResponse = respond
    this.limiter = limiter
    this.compiled = compiled
    this.turns = turns
    this.routeOf = routeOf
    this.followsUp = compiled.settles || compiled.holdsSlots
  }

  /**
   * @param verdict undefined: the request is exempt
   * @returns whether the request goes on, once its turn has come
   */
  respond(
    verdict: Verdict | undefined,
    request: Request,
    response: Response,
  ): MaybePromise<boolean> {
    if (verdict === undefined) return true
    const { adapter } = this
    const { decision, refusal, state } = verdict
    adapter.decided?.(request, decision)
    const isSent = adapter.isHeadSent(response)
    const written =
      state === undefined || isSent ? undefined : this.writeFields(state, request, response)
    if (refusal !== undefined) {
      if (isSent) return false
      return this.refuse(refusal, written ?? refusal.state, decision, request, response)
    }
    const mayBeExhausted = !decision.allowed || decision.remaining < 1 || written !== state
    if (written !== undefined && mayBeExhausted)
      hideExhaustedOnRedirect(written, this.compiled.profile, adapter, response)
    if (!this.followsUp && decision.delayMs === 0 && verdict !== clientGone) return true
    return then(this.followUp(verdict, request, response), (hasTurn) => {
      if (!hasTurn) adapter.abandon?.(response)
      return hasTurn
    })
  }

  /**
   * Writes the rate-limit fields, joined with those of the limiters that the request has passed.
   * @returns what they say now
   */
  private writeFields(state: FieldState, request: Request, response: Response): FieldState {
    const { adapter } = this
    const written = joinWritten(adapter.identity(request), state)
    const set = (name: string, value: string) => adapter.setField(response, name, value)
    for (const group of this.compiled.profile.groups) group.write(written, set)
    return written
  }

  private refuse(
    refusal: Refusal,
    state: FieldState | undefined,
    decision: Decision,
    request: Request,
    response: Response,
  ): MaybePromise<false> {
    const { adapter, ownResponse: respond } = this
    const headers: Record<string, string> = {}
    writeRefusalFields(refusal, this.compiled.profile, (name, value) => {
      headers[name] = value
      adapter.setField(response, name, value)
    })
    const toError = () => new RateLimitError(refusal, decision, headers)
    const toBody = () => problemBody(refusal.status, violatedOf(state), refusal.banned)
    if (respond === 'throw') {
      const error = toError()
      throw adapter.toThrown?.(error, toBody(), PROBLEM_MEDIA_TYPE) ?? error
    }
    adapter.setStatus(response, refusal.status)
    if (typeof respond === 'function') {
      return then(respond(decision, request, response, refusal.key), (result) => {
        adapter.responded?.(response, result)
        return false
      })
    }
    adapter.send(response, toBody(), PROBLEM_MEDIA_TYPE, toError)
    return false
  }

  /**
   * Arranges what follows an admission: settlement, the end of its slots, and its turn, for which it waits.
   * @returns false if the client has gone away before its turn, or before its address was known
   */
  private followUp(verdict: Verdict, request: Request, response: Response): MaybePromise<boolean> {
    if (verdict === clientGone) return false
    const { adapter, limiter } = this
    const { decision, charges } = verdict
    const { rules, settles } = this.compiled
    const route = limiter.events.followUpsAreWatched ? this.routeOf(request) : undefined
    if (settles && decision.allowed && charges.length > 0) {
      const settlement = new Settlement(limiter, rules, charges, decision, request, response, route)
      const settled = decision.policies.filter((_, i) => rules[i]?.settle !== undefined)
      settleInTime(settlement, adapter, response, settled, this.compiled.holdMs)
    }
    const progress = adapter.progress?.(response)
    const held = this.compiled.holdsSlots
      ? limiter.hold(charges, decision, route, progress)
      : undefined
    if (held !== undefined) releaseInTime(held, adapter, response)
    if (!waits(decision, this.compiled)) return true
    const turn = limiter.events.waiting(decision, route, () =>
      this.turns.delay(waitingKey(charges, decision), decision.delayMs, (callback) =>
        adapter.whenClosed(response, callback),
      ),
    )
    return then(turn, (hasTurn) => {
      if (!hasTurn) void held?.release()
      return hasTurn
    })
  }
}

/** Whether a request waits for its turn before it goes on. */
export function waits(
  { allowed, delayMs }: Decision,
  { dryRun }: { readonly dryRun: boolean },
): boolean {
  return allowed && delayMs > 0 && !dryRun
}

/** The key whose turn a request takes: that of the policy with the longest delay. */
export function waitingKey(charges: readonly Charge[], { delayMs, policies }: Decision): string {
  return (charges[policies.findIndex((each) => each.delayMs === delayMs)] as Charge).key
}

/** The names of the policies that refused, as in the fields. */
function violatedOf(state: FieldState | undefined): string[] {
  return state?.violated.map((i) => (state.policies[i] as ReportedPolicy).name) ?? []
}
