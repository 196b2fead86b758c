import type { Charge, Decision, MaybePromise } from '@sluice/core'
import { andThen, asRefusal, type ChargeLimiter, madeOf, undone } from '@sluice/core/internal'
import type { Turns } from './turns.ts'
import type { Waited, WaitingStrategy } from './waiting-strategy.ts'

/**
 * Decides requests of which a policy is a queue. A request gets a place to wait before it is charged: a turn in a
 * queue can be given back only while nobody is behind it. Without a place it is charged only if it need not wait.
 *
 * @param queue the index of the first policy that is a queue
 */
export function inTurn(
  limiter: ChargeLimiter,
  turns: Turns,
  queue: number,
): WaitingStrategy<unknown, unknown> {
  /** @param place the key for which a place to wait has been taken */
  const charge = (
    charges: readonly Charge[],
    route: string | undefined,
    place?: string,
  ): MaybePromise<Waited> => {
    const failed = (error: unknown): never => {
      if (place !== undefined) turns.free(place)
      throw error
    }
    try {
      const decided = limiter.decide(charges, route)
      return decided instanceof Promise
        ? decided.then((decision) => withTurn(charges, decision, place), failed)
        : withTurn(charges, decided, place)
    } catch (error) {
      return failed(error)
    }
  }

  /** Takes a turn for an admitted request that must wait, else gives its charges back. */
  const withTurn = (
    charges: readonly Charge[],
    decision: Decision,
    place: string | undefined,
  ): Waited => {
    const { delayMs, policies } = decision
    // It takes the turn of the policy with the longest delay.
    const longest = policies.findIndex((each) => each.delayMs === delayMs)
    const key = delayMs > 0 ? (charges[longest] as Charge).key : undefined
    if (place !== undefined && place !== key) turns.free(place)
    if (key === undefined) return { decision }
    if (key === place || turns.take(key)) return { decision, turn: key }
    // A charge that the store fails to take back drains by itself.
    const undo = undone(madeOf(charges, policies))
    void Promise.resolve(limiter.correct(undo, decision)).catch(() => {})
    return { decision: asTurnedAway(decision) }
  }

  return (charges, _request, _response, route) => {
    const { key } = charges[queue] as Charge
    if (turns.take(key)) return charge(charges, route, key)
    return andThen(limiter.preview(charges), (preview): MaybePromise<Waited> => {
      if (preview.delayMs === 0) return charge(charges, route)
      if (turns.take(key)) return charge(charges, route, key)
      return { decision: asTurnedAway(preview) }
    })
  }
}

/** Refuses a request that would have to wait: there is no place for it. */
function asTurnedAway(decision: Decision): Decision {
  return asRefusal(decision, ({ delayMs }) => delayMs)
}
