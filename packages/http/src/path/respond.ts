import type { Charge, Decision, MaybePromise } from '@sluice/core'
import {
  andThen,
  type ChargeLimiter,
  decisionWithoutPolicy,
  type HeldSlot,
  warnOnce,
} from '@sluice/core/internal'
import { type FieldState, joinWritten, remainingUnits, writtenOf } from '../fields/field-state.ts'
import { PROFILE_FIELDS } from '../fields/profiles/index.ts'
import { type CompiledOptions, routeOf } from '../options/compile-options.ts'
import {
  bodyTypeFor,
  problemBody,
  RateLimitError,
  type Refusal,
  writeRefusalFields,
} from '../refusal/refusal.ts'
import { watchEnd } from '../settlement/response-end.ts'
import { settleRequest } from '../settlement/settle-request.ts'
import type { Turns } from './waiting/turns.ts'

export interface Verdict {
  readonly decision: Decision
  /** The state of the policies, for the header fields. Undefined: none are sent. */
  readonly state: FieldState | undefined
  /** Undefined: the request continues. */
  readonly refusal: Refusal | undefined
  readonly charges: readonly Charge[]
  /** The key that has taken a turn for it, for which it waits. */
  readonly turn: string | undefined
}

/** The verdict on a request that no policy has decided. */
export function verdictWithoutPolicy(decision: Decision, refusal?: Refusal): Verdict {
  return { decision, state: undefined, refusal, charges: [], turn: undefined }
}

/** The verdict on a request whose client has gone before its address was known: it ends here, uncharged. */
export const clientGone = verdictWithoutPolicy(decisionWithoutPolicy(false, 0, Infinity))

/** The place on an object for the limiters that have decided its request. */
const DECIDED = Symbol('sluice.decided')

/** The limiters of an object, the last one first. */
interface Decided {
  readonly limiter: object
  /** The object itself: one that has it as its prototype stands for another request. */
  readonly subject: object
  readonly earlier: Decided | undefined
}

type Marked = { [DECIDED]?: Decided }

/**
 * Whether a limiter has decided a request before: the same limiter may be on its way several times, on
 * the application and on a router for instance.
 *
 * @param subject stands for the request wherever it passes a limiter. A value that is no object has passed none
 */
export function isDecided(subject: object, limiter: object): boolean {
  const last = (subject as Marked | undefined)?.[DECIDED]
  for (let each = last; each !== undefined && each.subject === subject; each = each.earlier)
    if (each.limiter === limiter) return true
  return false
}

/** Notes that a limiter has decided a request. */
export function noteDecided(subject: object, limiter: object): void {
  const marked = subject as Marked
  marked[DECIDED] = { limiter, subject, earlier: marked[DECIDED] }
}

/** Carries out verdicts, the same for every framework: fields, refusal, delay, settlement. */
export class Responder<Request, Response> {
  readonly #compiled: CompiledOptions<Request, Response>
  readonly #limiter: ChargeLimiter
  readonly #turns: Turns

  constructor(compiled: CompiledOptions<Request, Response>, limiter: ChargeLimiter, turns: Turns) {
    this.#compiled = compiled
    this.#limiter = limiter
    this.#turns = turns
  }

  /**
   * @param subject what is decided once
   * @returns whether the request goes on, once its turn has come
   */
  respond(
    verdict: Verdict,
    request: Request,
    response: Response,
    subject: object,
  ): MaybePromise<boolean> {
    const { adapter, followsUp, profile, removesUpstream } = this.#compiled
    const { decision, refusal, state } = verdict
    noteDecided(subject, this)
    adapter.decided?.(request, decision)
    const isSent = adapter.isHeadSent(response)
    let written: FieldState | undefined
    if (state !== undefined && !isSent) {
      // They are joined with those of the limiters that the request has passed.
      written = joinWritten(adapter.identity(request), state)
      const set = (name: string, value: string) => adapter.setField(response, name, value)
      for (const group of profile.groups) group.write(written, set)
    }
    if (refusal !== undefined) {
      if (isSent) return false
      return this.#refuse(refusal, written ?? refusal.state, decision, request, response)
    }
    const mayBeExhausted = !decision.allowed || decision.remaining < 1 || written !== state
    if (removesUpstream ? !isSent : written !== undefined && mayBeExhausted)
      this.#reviseFields(request, response)
    if (verdict === clientGone) {
      adapter.abandon?.(response)
      return false
    }
    return followsUp || verdict.turn !== undefined
      ? this.#followUp(verdict, request, response)
      : true
  }

  /**
   * Revises the fields before they are sent: removes those that the application has set, if it must not, and the usage
   * of an exhausted quota from a redirect, since it would keep the client from following it (draft-11 §3.2). The
   * policies remain.
   */
  #reviseFields(request: Request, response: Response): void {
    const { adapter, profile, removesUpstream } = this.#compiled
    adapter.beforeHead(response, (setField) => {
      const written = writtenOf(adapter.identity(request))
      if (removesUpstream) {
        for (const field of PROFILE_FIELDS) adapter.removeField(response, field)
        if (written !== undefined)
          for (const group of profile.groups) group.write(written, setField)
      }
      const status = adapter.status(response)
      const isExhausted = written?.policies.some((policy) => remainingUnits(policy) === 0)
      if (!isExhausted || status < 300 || status > 399) return
      for (const field of profile.usageFields) adapter.removeField(response, field)
    })
  }

  #refuse(
    refusal: Refusal,
    state: FieldState | undefined,
    decision: Decision,
    request: Request,
    response: Response,
  ): MaybePromise<false> {
    const { adapter, profile, respond } = this.#compiled
    const headers: Record<string, string> = {}
    writeRefusalFields(refusal, profile, (name, value) => {
      headers[name] = value
      adapter.setField(response, name, value)
    })
    const toError = () => new RateLimitError(refusal, decision, headers)
    const toBody = () => problemBody(refusal, state, profile)
    const mediaType = bodyTypeFor(adapter.header(request, 'accept'))
    if (respond === 'throw') {
      const error = toError()
      throw adapter.toThrown?.(error, toBody(), mediaType) ?? error
    }
    adapter.setStatus(response, refusal.status)
    const send = (): false => {
      adapter.send(response, toBody(), mediaType, toError)
      return false
    }
    if (typeof respond !== 'function') return send()
    const call = () => respond(decision, request, response, refusal.key)
    // A framework's response, such as that of response.status(429), may be a promise of its own end.
    const own = <T>(result: T) => ((result as unknown) === response ? undefined : result)
    return andThen(own(adapter.responding?.(response, call) ?? call()), (result) =>
      andThen(adapter.responded?.(response, own(result)) ?? true, (isAnswered) => {
        if (isAnswered) return false
        warnOnce(
          'SLUICE_UNANSWERED',
          'The function respond has neither sent a response nor returned one, so the refusal got the default body. ' +
            'Return the body, or send the response, or a promise that resolves when it is sent.',
        )
        return send()
      }),
    )
  }

  /**
   * Arranges what follows an admission: settlement, the end of its slots, and its turn, for which it waits.
   * @returns false if the client has gone away before its turn
   */
  #followUp(verdict: Verdict, request: Request, response: Response): MaybePromise<boolean> {
    const limiter = this.#limiter
    const { adapter, settles, holdsSlots } = this.#compiled
    const { decision, charges, turn } = verdict
    const route = limiter.events.followUpsAreWatched ? routeOf(this.#compiled, request) : undefined
    const progress = adapter.progress?.(response)
    const settling =
      settles && decision.allowed && charges.length > 0
        ? settleRequest(limiter, this.#compiled, decision, charges, { request, response, route })
        : undefined
    const released: HeldSlot['ended'] = (reason) => limiter.events.released(reason, charges, route)
    const held = holdsSlots ? limiter.hold(charges, decision, released, progress) : undefined
    if (settling !== undefined || held !== undefined) {
      watchEnd(adapter, response, (isOver, isClosed) => {
        const settled = settling?.changed(isOver, isClosed)
        const freed = isOver ? held?.release() : undefined
        // If the application never ends the response, the slots are free after `hold`.
        if (isClosed && !isOver) held?.abandon()
        adapter.waitUntil?.(request, Promise.all([settled, freed]))
      })
    }
    // Where the platform does not report every end, bytes that are taken renew the slots.
    progress?.onProgress(() => {
      if (adapter.isClosed(response)) return
      held?.touch()
      settling?.touch()
    })
    if (turn === undefined) return true
    const waited = limiter.events.waiting(decision, route, () =>
      this.#turns.delay(turn, decision.delayMs, (callback) =>
        adapter.whenClosed(response, callback),
      ),
    )
    return waited.then((goesOn) => {
      if (goesOn) return true
      void held?.release()
      adapter.abandon?.(response)
      return false
    })
  }
}
