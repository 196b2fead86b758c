import { madeOnce } from '../../made-once.ts'
import type {
  Algorithm,
  AlgorithmParams,
  Claim,
  CompiledLimit,
  Correction,
  KeyState,
} from '../algorithm.ts'
import { ConstantLimit, refuseFor } from '../algorithm.ts'
import { isOnce, slotOf } from '../held/claim.ts'
import {
  Held,
  MAX_REMEMBERED,
  MAX_RESERVATIONS,
  MOST_ENDED,
  REMEMBERED_MS,
  SETTLED,
  SLOT_WAIT_MS,
} from '../held/held.ts'

/** How long a reservation is held without renewal, if nobody says, ms. */
const HOLD_MS = 30_000

/**
 * Each reservation has further numbers: when it was charged (ms), its units, its owner. A settlement that is remembered
 * has no units, and the owner `SETTLED`.
 */
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

  decide(state: KeyState, now: number, cost: number, [, owner = 0]: Claim = []): void {
    const hasEnded = this.#giveBackEnded(state, now)
    this.#inner.decide(state, now, cost)
    const { held } = state
    if (held === undefined) return
    if (hasEnded || held.clock > now) state.rebased = true
    if (held.length < MAX_RESERVATIONS / 2) return
    const free = MAX_RESERVATIONS - held.length + held.countOf(SETTLED)
    // The key has as many reservations as it can. Nobody knows when one of them will be settled.
    if (free <= MAX_RESERVATIONS / 2 && held.countOf(owner) >= free) refuseFor(state, SLOT_WAIT_MS)
  }

  commit(state: KeyState, now: number, cost: number, [slot, owner = 0]: Claim = []): void {
    this.#inner.commit(state, now, cost)
    state.held?.holdAsOf(now)
    if (cost === 0 || slot === undefined) return
    state.held ??= new Held(EXTRAS)
    state.held.add(now, slot, this.#holdMs, [now, cost, owner])
  }

  settle(state: KeyState, now: number, { delta, chargedAt, claim = [] }: Correction): void {
    this.#giveBackEnded(state, now)
    state.held?.holdAsOf(now)
    const [slot = 0, , units = 0, ...others] = claim
    const confirmed = others.filter((each) => each > 0)
    const ends = units > 0 || isOnce(claim)
    const taken = ends ? state.held?.take([slot, ...confirmed]) : undefined
    const known = taken?.get(slot)
    const correct = (delta: number, chargedAt: number) =>
      this.#inner.settle(state, now, { delta, chargedAt })
    // A client may have sent a reservation again after its settlement.
    for (const other of confirmed) {
      const [chargedAt = now, units = 0] = taken?.get(other) ?? []
      if (units > 0) correct(-units, chargedAt)
    }
    if (known?.[UNITS] === 0) correct(0, now)
    else if (known !== undefined) correct(delta, delta < 0 ? (known[CHARGED_AT] as number) : now)
    else if (units > 0) correct(units + delta, now)
    else correct(delta, chargedAt)
    if (isOnce(claim)) remember(state, now, slot)
  }

  renew(state: KeyState, now: number, claims: readonly Claim[]): void {
    this.#giveBackEnded(state, now)
    const { held } = state
    held?.holdAsOf(now)
    held?.renew(now, claims.map(slotOf), this.#holdMs)
    this.#inner.settle(state, now, { delta: 0, chargedAt: now })
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
      this.#inner.settle(state, at, {
        delta: -ended.extra(i, UNITS),
        chargedAt: ended.extra(i, CHARGED_AT),
      })
    }
    state.held = others
    return true
  }
}

/** Holds the slot of a settlement, with no units, so that it is made once. */
function remember(state: KeyState, now: number, slot: number): void {
  state.held ??= new Held(EXTRAS)
  const { held } = state
  if (held.length < MAX_REMEMBERED || held.countOf(SETTLED) < MAX_REMEMBERED)
    held.add(now, slot, REMEMBERED_MS, [now, 0, SETTLED])
}

const known = new Map<Algorithm, Algorithm>()

/** The algorithm of policies with `reserve`: it counts as `inner` does, whose state is three integers. */
export function reserved(inner: Algorithm): Algorithm {
  return madeOnce(known, inner, () => {
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
    return made
  })
}
