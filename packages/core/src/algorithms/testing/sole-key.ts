import { commitOne, decideOne, keepMsOf } from '../../stores/rules/decide-all.ts'
import { type CompiledLimit, KeyState, type Outcome } from '../algorithm.ts'
import { Held } from '../held/held.ts'
import { Log } from '../sliding-log/log.ts'

/** One key's state under a quota, kept by the rules that every store follows, and by nothing else. */
export class SoleKey {
  /** May be replaced by another limit of the algorithm with the same window. */
  limit: CompiledLimit
  #kept: KeyState

  constructor(limit: CompiledLimit, kept = new KeyState()) {
    this.limit = limit
    this.#kept = kept
  }

  /** @param slot the slot to take, if the limit counts slots */
  consume(now: number, cost = 1, slot?: number): Outcome {
    const claim = slot === undefined ? undefined : [slot]
    const state = copy(this.#kept)
    const charge = { key: '', limit: this.limit, cost, claim }
    decideOne(state, charge, now, cost)
    const outcome = outcomeOf(state)
    if (commitOne(state, charge, now, state.admitted ? cost : 0)) this.#kept = state
    return outcome
  }

  /** Decides without charging. */
  ask(now: number, cost = 0): Outcome {
    return this.fork().consume(now, cost)
  }

  /** @param claimed the slot, or the units that remained after the charge of a queue */
  settle(
    now: number,
    delta: number,
    chargedAt: number,
    claimed?: number,
  ): Pick<Outcome, 'remaining' | 'resetMs'> {
    this.#kept = copy(this.#kept)
    const claim = claimed === undefined ? undefined : [claimed]
    this.limit.settle(this.#kept, now, { delta, chargedAt, claim })
    return { remaining: this.#kept.remaining, resetMs: this.#kept.resetMs }
  }

  /** How long a store keeps the key from `now` on, ms. */
  keepMs(now: number): number {
    const asked = copy(this.#kept)
    decideOne(asked, { limit: this.limit }, now, 0)
    return keepMsOf(asked, this.limit, now)
  }

  /** Takes units as long as any is admitted at this moment; returns how many. */
  drain(now: number): number {
    let taken = 0
    for (let { remaining } = this.ask(now); remaining > 0; remaining = this.ask(now).remaining) {
      if (!this.consume(now, remaining).admitted) throw new Error(`${remaining} did not remain`)
      taken += remaining
    }
    return taken
  }

  /** A copy of the state, for a future of its own. */
  fork(): SoleKey {
    return new SoleKey(this.limit, copy(this.#kept))
  }
}

/** A copy of an outcome without what else a state has. */
export function outcomeOf({
  admitted,
  remaining,
  resetMs,
  retryAfterMs,
  effectiveMs,
  delayMs,
}: Outcome): Outcome {
  return { admitted, remaining, resetMs, retryAfterMs, effectiveMs, delayMs }
}

function copy({ a, b, c, log, held }: KeyState): KeyState {
  const state = Object.assign(new KeyState(), { a, b, c })
  state.held = held && Held.from(held.extras, held.clock, held.all().slice())
  if (log === undefined) return state
  const copied = new Log()
  for (let i = 0; i < log.length; i += 1) copied.push(log.time(i), log.cost(i))
  state.log = copied
  return state
}
