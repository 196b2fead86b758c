import type { Algorithm, AlgorithmParams, CompiledLimit, KeyState } from '../algorithm.ts'
import { ConstantLimit } from '../algorithm.ts'
import { HeldArray, MAX_RESERVATIONS, MOST_ENDED, SLOT_WAIT_MS } from '../held/held.ts'

/** How long a reservation is held without renewal, if nobody says, ms. */
const HOLD_MS = 30_000

/** Each reservation has further numbers: when it was charged (ms), its units, its owner. */
const EXTRAS = 3
const [CHARGED_AT, UNITS] = [0, 1] as const

/**
 * Counts as another limit does, and keeps beside the count which of its charges are estimates. What one process
 * has reserved and neither settled nor renewed for `holdMs` is given back with the next look at the key, as
 * `settle` of the other limit gives it back.
 *
 * State: a, b and c are the other limit's; what is held has an entry for each reservation. After the clock has
 * stepped back, each is held as of `now`, for as long as it says itself: another version of the application may hold
 * its reservations for longer.
 */
class ReservedLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm: Algorithm
  readonly grantEnd: CompiledLimit['grantEnd']
  readonly #inner: CompiledLimit
  readonly #holdMs: number
  /** The constants of the Lua form, by those of the other limit. */
  readonly #known = new WeakMap<readonly number[], readonly number[]>()

  constructor(algorithm: Algorithm, inner: CompiledLimit, params: AlgorithmParams) {
    super(params, undefined, { limit: inner.units, windowMs: inner.windowMs })
    this.algorithm = algorithm
    this.#inner = inner
    this.grantEnd = inner.grantEnd?.bind(inner)
    this.#holdMs = params.holdMs ?? HOLD_MS
  }

  /** Returns the constants of the other limit, with `holdMs` as the second one. */
  override constants(now: number): readonly number[] {
    const own = this.#inner.constants(now)
    let known = this.#known.get(own)
    if (known === undefined) {
      const [units, ...others] = own
      known = [units as number, this.#holdMs, ...others]
      this.#known.set(own, known)
    }
    return known
  }

  decide(state: KeyState, now: number, cost: number, owner = 0): void {
    const hasEnded = this.#giveBackEnded(state, now)
    this.#inner.decide(state, now, cost)
    const { held } = state
    if (held === undefined) return
    if (hasEnded || held.clock > now) state.rebased = true
    const free = MAX_RESERVATIONS - held.length
    if (free <= MAX_RESERVATIONS / 2 && held.countOf(owner) >= free) refuse(state)
  }

  commit(state: KeyState, now: number, cost: number, slot?: number, owner = 0): void {
    this.#inner.commit(state, now, cost)
    state.held?.holdAsOf(now)
    if (cost === 0 || slot === undefined) return
    state.held ??= new HeldArray(EXTRAS)
    state.held.add(now, slot, this.#holdMs, [now, cost, owner])
  }

  settle(
    state: KeyState,
    now: number,
    delta: number,
    chargedAt: number,
    slot?: number,
    reserved = 0,
  ): void {
    this.#giveBackEnded(state, now)
    const { held } = state
    held?.holdAsOf(now)
    if (reserved === 0) {
      this.#inner.settle(state, now, delta, chargedAt)
      return
    }
    const reservation = held?.take([slot as number]).get(slot as number)
    if (reservation === undefined) this.#inner.settle(state, now, reserved + delta, now)
    else
      this.#inner.settle(state, now, delta, delta < 0 ? (reservation[CHARGED_AT] as number) : now)
  }

  renew(state: KeyState, now: number, slots: readonly number[]): void {
    this.#giveBackEnded(state, now)
    const { held } = state
    held?.holdAsOf(now)
    held?.renew(now, slots, this.#holdMs)
    this.#inner.settle(state, now, 0, now)
  }

  keepMs(state: KeyState, now: number): number {
    const keepMs = this.#inner.keepMs === undefined ? state.resetMs : this.#inner.keepMs(state, now)
    return state.held === undefined ? keepMs : Math.max(keepMs, state.held.lastEnd(now) - now)
  }

  /** Gives back what has ended, and says whether anything has. What was held before may be the store's, and stays. */
  #giveBackEnded(state: KeyState, now: number): boolean {
    const apart = state.held?.apart(now, MOST_ENDED)
    if (apart === undefined) return false
    const { ended, others } = apart
    // Whenever somebody looks, a bucket gets back what had not drained when the reservation ended.
    const { drains } = this.#inner.algorithm
    for (let i = 0; i < ended.length; i += 1) {
      const at = drains ? ended.until(i) : now
      this.#inner.settle(state, at, -ended.extra(i, UNITS), ended.extra(i, CHARGED_AT))
    }
    state.held = others
    return true
  }
}

/** The key has as many reservations as it can. Nobody knows when one of them will be settled. */
function refuse(state: KeyState): void {
  state.admitted = false
  state.remaining = 0
  state.resetMs = SLOT_WAIT_MS
  state.retryAfterMs = SLOT_WAIT_MS
  state.effectiveMs = SLOT_WAIT_MS
  state.delayMs = 0
}

const known = new Map<Algorithm, Algorithm>()

/** The algorithm of policies with `reserve`: it counts as `inner` does, whose state is three integers. */
export function reserved(inner: Algorithm): Algorithm {
  let algorithm = known.get(inner)
  if (algorithm === undefined) {
    const made: Algorithm = {
      ...inner,
      name: `reserved-${inner.name}`,
      reserves: true,
      maxEntries: MAX_RESERVATIONS,
      compile: (params: AlgorithmParams) => new ReservedLimit(made, inner.compile(params), params),
      async lua() {
        const { reservedLua } = await import('./reserved.lua.ts')
        return reservedLua(await inner.lua(), inner.drains)
      },
    }
    algorithm = made
    known.set(inner, made)
  }
  return algorithm
}
