import type { Algorithm, AlgorithmParams, CompiledLimit, KeyState } from '../algorithm.ts'
import { ConstantLimit } from '../algorithm.ts'
import { ASK_AGAIN_MS } from '../concurrency/concurrency.lua.ts'
import { Log } from '../sliding-log/log.ts'
import { MAX_RESERVATIONS, reservedLua } from './reserved.lua.ts'

/** How long a reservation is held without renewal, if nobody says, ms. */
const HOLD_MS = 30_000

/** Entries of the log for each reservation. */
const PAIR = 2

/**
 * Counts as another limit does, and keeps beside the count which of its charges are estimates. What one process
 * has reserved and neither settled nor renewed for `holdMs` is given back with the next look at the key, as
 * `settle` of the other limit gives it back.
 *
 * State: a, b and c are the other limit's; the log has two entries for each reservation, the next to expire first:
 * until when it is held and its number; when it was charged and its units. One that is held for longer than
 * `holdMs`, since the clock has stepped back, is held as of `now`.
 */
class ReservedLimit extends ConstantLimit implements CompiledLimit {
  readonly algorithm: Algorithm
  private readonly inner: CompiledLimit
  private readonly holdMs: number
  /** The constants of the Lua form, by those of the other limit. */
  private readonly known = new WeakMap<readonly number[], readonly number[]>()

  constructor(algorithm: Algorithm, inner: CompiledLimit, params: AlgorithmParams) {
    super(params, undefined, { limit: inner.units, windowMs: inner.windowMs })
    this.algorithm = algorithm
    this.inner = inner
    this.holdMs = params.holdMs ?? HOLD_MS
  }

  /** Returns the constants of the other limit, with `holdMs` before the ticks. */
  override constants(now: number): readonly number[] {
    const own = this.inner.constants(now)
    let known = this.known.get(own)
    if (known === undefined) {
      const withTicks = own.length === this.inner.algorithm.lua.constants.length
      const hasTicks = withTicks && this.inner.algorithm.lua.constants.at(-1) === 'ticks'
      const before = hasTicks ? own.slice(0, -1) : own
      known = [...before, this.holdMs, ...own.slice(before.length)]
      this.known.set(own, known)
    }
    return known
  }

  decide(state: KeyState, now: number, cost: number): void {
    this.giveBackExpired(state, now)
    const { log } = state
    this.inner.decide(state, now, cost)
    if (log === undefined || log.length === 0) return
    if (log.time(log.length - PAIR) > now + this.holdMs) state.rebased = true
    if (log.length >= PAIR * MAX_RESERVATIONS) refuse(state)
  }

  commit(state: KeyState, now: number, cost: number, slot?: number): void {
    this.inner.commit(state, now, cost)
    const held = this.held(state, now)
    if (cost > 0 && slot !== undefined) add(held, now + this.holdMs, slot, now, cost)
    state.log = held
  }

  settle(
    state: KeyState,
    now: number,
    delta: number,
    chargedAt: number,
    slot?: number,
    reserved = 0,
  ): void {
    this.giveBackExpired(state, now)
    if (reserved === 0) {
      state.log = this.held(state, now)
      this.inner.settle(state, now, delta, chargedAt)
      return
    }
    const { held, found } = this.without(state, now, new Set([slot as number]))
    const [reservation] = found
    state.log = held
    if (reservation === undefined) this.inner.settle(state, now, reserved + delta, now)
    else this.inner.settle(state, now, delta, delta < 0 ? reservation.chargedAt : now)
  }

  renew(state: KeyState, now: number, slots: readonly number[]): void {
    this.giveBackExpired(state, now)
    const { held, found } = this.without(state, now, new Set(slots))
    for (const { slot, chargedAt, units } of found) {
      add(held, now + this.holdMs, slot, chargedAt, units)
    }
    state.log = held
    this.inner.settle(state, now, 0, now)
  }

  keepMs(state: KeyState, now: number): number {
    const { inner } = this
    const keepMs = inner.keepMs === undefined ? state.resetMs : inner.keepMs(state, now)
    const { log } = state
    if (log === undefined || log.length === 0) return keepMs
    return Math.max(keepMs, log.time(log.length - PAIR) - now)
  }

  /** Leaves the log of the state as it was: it may be that of the store. */
  private giveBackExpired(state: KeyState, now: number): void {
    const { log } = state
    if (log === undefined || log.length === 0 || log.time(0) > now) return
    const held = new Log()
    // Whenever somebody looks, a bucket gets back what had not drained when the reservation ended.
    const { drains } = this.inner.algorithm
    for (let i = 0; i < log.length; i += PAIR) {
      if (log.time(i) > now) add(held, log.time(i), log.cost(i), log.time(i + 1), log.cost(i + 1))
      else this.inner.settle(state, drains ? log.time(i) : now, -log.cost(i + 1), log.time(i + 1))
    }
    state.log = held
  }

  /** The reservations that are held at `now`, in a log of its own. */
  private held(state: KeyState, now: number): Log {
    return this.without(state, now, NONE).held
  }

  /** The reservations that are held at `now`, but those with these numbers, and these. */
  private without({ log }: KeyState, now: number, slots: ReadonlySet<number>) {
    const latest = now + this.holdMs
    const held = new Log()
    const found: { slot: number; chargedAt: number; units: number }[] = []
    for (let i = 0; log !== undefined && i < log.length; i += PAIR) {
      const [slot, chargedAt, units] = [log.cost(i), log.time(i + 1), log.cost(i + 1)]
      if (slots.has(slot)) found.push({ slot, chargedAt, units })
      else add(held, Math.min(log.time(i), latest), slot, chargedAt, units)
    }
    return { held, found }
  }
}

const NONE: ReadonlySet<number> = new Set()

function add(log: Log, until: number, slot: number, chargedAt: number, units: number): void {
  log.push(until, slot)
  log.push(chargedAt, units)
}

/** The key has as many reservations as it can. Nobody knows when one of them will be settled. */
function refuse(state: KeyState): void {
  state.admitted = false
  state.remaining = 0
  state.resetMs = ASK_AGAIN_MS
  state.retryAfterMs = ASK_AGAIN_MS
  state.effectiveMs = ASK_AGAIN_MS
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
      maxEntries: PAIR * MAX_RESERVATIONS,
      compile: (params: AlgorithmParams) => new ReservedLimit(made, inner.compile(params), params),
      lua: reservedLua(inner.lua, inner.drains),
    }
    algorithm = made
    known.set(inner, made)
  }
  return algorithm
}
