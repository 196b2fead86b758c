import type { Charge, Decision, MaybePromise } from '@sluice/core'
import { andThen, asRefusal, type ChargeLimiter, madeOf, undone } from '@sluice/core/internal'
import type { Turns } from './turns.ts'
import type { Waited, WaitingStrategy } from './waiting-strategy.ts'

/**
 * Decides requests of which a policy is a queue. A request gets a place to wait before it is charged: a turn in a
 * queue can be given back only while nobody is behind it. Without a place it is charged only if it need not wait.
 */
export class InTurn implements WaitingStrategy<unknown, unknown> {
  readonly #limiter: ChargeLimiter
  readonly #turns: Turns
  readonly #queue: number

  /** @param queue the index of the first policy that is a queue */
  constructor(limiter: ChargeLimiter, turns: Turns, queue: number) {
    this.#limiter = limiter
    this.#turns = turns
    this.#queue = queue
  }

  decide(
    charges: readonly Charge[],
    _request: unknown,
    _response: unknown,
    route: string | undefined,
  ): MaybePromise<Waited> {
    const { key } = charges[this.#queue] as Charge
    if (this.#turns.take(key)) return this.#charge(charges, route, key)
    return andThen(this.#limiter.preview(charges), (preview): MaybePromise<Waited> => {
      if (preview.delayMs === 0) return this.#charge(charges, route)
      if (this.#turns.take(key)) return this.#charge(charges, route, key)
      return { decision: asTurnedAway(preview) }
    })
  }

  /** @param place the key for which a place to wait has been taken */
  #charge(
    charges: readonly Charge[],
    route: string | undefined,
    place?: string,
  ): MaybePromise<Waited> {
    const failed = (error: unknown): never => {
      if (place !== undefined) this.#turns.free(place)
      throw error
    }
    try {
      const decided = this.#limiter.decide(charges, route)
      return decided instanceof Promise
        ? decided.then((decision) => this.#withTurn(charges, decision, place), failed)
        : this.#withTurn(charges, decided, place)
    } catch (error) {
      return failed(error)
    }
  }

  /** Takes a turn for an admitted request that must wait, else gives its charges back. */
  #withTurn(charges: readonly Charge[], decision: Decision, place: string | undefined): Waited {
    const { delayMs, policies } = decision
    // It takes the turn of the policy with the longest delay.
    const longest = policies.findIndex((each) => each.delayMs === delayMs)
    const key = delayMs > 0 ? (charges[longest] as Charge).key : undefined
    if (place !== undefined && place !== key) this.#turns.free(place)
    if (key === undefined) return { decision }
    if (key === place || this.#turns.take(key)) return { decision, turn: key }
    // A charge that the store fails to take back drains by itself.
    const undo = undone(madeOf(charges, policies))
    void Promise.resolve(this.#limiter.correct(undo, decision)).catch(() => {})
    return { decision: asTurnedAway(decision) }
  }
}

/** Refuses a request that would have to wait: there is no place for it. */
function asTurnedAway(decision: Decision): Decision {
  return asRefusal(decision, ({ delayMs }) => delayMs)
}
