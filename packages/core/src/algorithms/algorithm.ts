import type { Calendar } from './calendar-window/calendar.ts'
import type { LuaStep } from './lua-step.ts'
import type { Log } from './sliding-log/log.ts'

/** The largest limit of any policy, units. */
export const MAX_LIMIT = 1_000_000_000_000

/** The parameters of a policy, in the user's numbers. */
export interface AlgorithmParams {
  /** Requests (units of cost) per window, integer, 0 … 10^12. */
  readonly limit: number
  /** ms, integer, 1 … ten years. */
  readonly windowMs: number
  /** Token bucket: its capacity in units. Default: `limit`. */
  readonly burst?: number | undefined
  /** Leaky bucket: the longest that an admitted request waits, ms. */
  readonly maxDelayMs?: number | undefined
  /** Windows of the calendar: which. */
  readonly calendar?: Calendar | undefined
  /** Ban: how long each one lasts, ms, one after the other; the last one again and again. */
  readonly bansMs?: readonly number[] | undefined
  /** The limit varies between requests: as far as possible, one state serves all values. */
  readonly oneOfSeveral?: boolean | undefined
}

/** What a decision says about one policy. All times are integer ms from the moment of the decision. */
export interface Outcome {
  admitted: boolean
  /** Whole units that would still be admitted at this moment. */
  remaining: number
  /** The time until the quota is full again, ms. */
  resetMs: number
  /** The shortest wait after which the same cost would be admitted: 0 now, `Infinity` never. */
  retryAfterMs: number
  /**
   * The effective window of the header fields, the parameter `t` of
   * draft-ietf-httpapi-ratelimit-headers-11. Refused: `retryAfterMs`. With nothing left: until one
   * unit is. Otherwise: until the window ends, the oldest entry leaves, or as much has drained as
   * is left.
   */
  effectiveMs: number
  /** How long an admitted request must wait for its turn (leaky bucket). */
  delayMs: number
  /** Ban: it has counted this very request as a refusal. If it refuses, it begins with it. */
  counted?: boolean
}

/**
 * One key's state on its way through a step. The store loads it. The step reads it and leaves the
 * outcome and the next state in it. The store saves that next state, or drops it. Stores reuse
 * these objects, so a decision allocates nothing.
 */
export class KeyState implements Outcome {
  /** Three integers whose meaning is the algorithm's. All zero: a key never seen. */
  a = 0
  b = 0
  c = 0
  /** The sliding log's entries; undefined for every other algorithm. */
  log: Log | undefined = undefined
  /** When the block of the key ends, ms since the epoch: until then every charge is refused. */
  blockedUntil = 0
  /**
   * True if the store's clock has stepped back behind the state, which the step has moved to the
   * present. The store keeps the moved state even of a refusal, so that no client stays locked out
   * until the clock has caught up.
   */
  rebased = false

  admitted = false
  remaining = 0
  resetMs = 0
  retryAfterMs = 0
  effectiveMs = 0
  delayMs = 0
  counted = false
}

/** A policy's parameters, compiled into exact integers for one algorithm. Immutable. */
export interface CompiledLimit {
  readonly algorithm: Algorithm
  /** The most that the quota ever holds, in units; what headers and decisions call the limit. */
  readonly units: number
  /** ms. */
  readonly windowMs: number
  /**
   * What the state's integers count. Limits with different scales can't read each other's states, so
   * it is part of the key.
   */
  readonly scale: string
  /**
   * The integers of the limit for the Lua form, in the order in which its file names them. Those that only
   * serve to count in ticks coarser than a millisecond come last, and are left out otherwise.
   * The same array as long as they are the same.
   *
   * @param now ms, about what the store's clock says: windows of the calendar depend on it
   */
  constants(now: number): readonly number[]

  /**
   * Decides `cost` units at `now` on the state. Pure but for that state, in which it leaves
   * the outcome, as if an admitted cost were charged, and the key as it is at `now`, not charged
   * yet. A cost of 0 is admitted while at least one unit remains.
   */
  decide(state: KeyState, now: number, cost: number): void
  /**
   * Charges the state, which `decide` has brought to `now`, with `cost` units.
   * @param slot if the algorithm holds slots: the number of the one that is taken, 1 … 2^53 − 1.
   *   Without it nothing is charged
   */
  commit(state: KeyState, now: number, cost: number, slot?: number): void
  /**
   * Corrects by `delta` units what was charged at `chargedAt`: gives back (negative), down to an
   * untouched quota, or charges more (positive), into debt if necessary. Only in the window that
   * was charged: once that has passed, nothing changes. A bucket gives back what has not drained
   * since. So the requests of any span never really cost more than the algorithm's bound, whenever
   * and in whatever order they are settled. Leaves `remaining` and `resetMs`.
   *
   * An algorithm that holds slots gives back exactly this `slot` (negative), if it is still held;
   * or holds it anew from `now` on (positive), also if it was lost or all others are in use.
   */
  settle(state: KeyState, now: number, delta: number, chargedAt: number, slot?: number): void
  /**
   * How long the state must be kept, ms from `now` on, where that is longer than `resetMs`. Left out: until
   * the quota is whole again.
   */
  keepMs?(state: KeyState, now: number): number
  /**
   * Holds these slots anew from `now` on, as `settle` does with each of them, in time that grows with
   * the slots in use and not with their square. Leaves `remaining` and `resetMs`. Left out by an
   * algorithm that holds no slots.
   */
  renew?(state: KeyState, now: number, slots: readonly number[]): void
}

/** The options of a policy that only some algorithms have. */
export type AlgorithmOption = 'burst' | 'maxDelay'

/** Everything that the rest of the repository knows about an algorithm, from the registry in `index.ts`. */
export interface Algorithm {
  /** The algorithm's name in options, keys and reports. */
  readonly name: string
  /**
   * The algorithm's options besides limit and window, each with its default: units, ms, or the
   * policy's limit.
   */
  readonly options: { readonly [option in AlgorithmOption]?: number | 'limit' }
  /** The largest limit that it accepts, units. */
  readonly maxLimit: number
  /** True: a key's state grows with what was admitted, by a log. False: it is three integers. */
  readonly keepsLog: boolean
  /** True: a charge is a slot (`Charge.slot`), in use until it is given back or no longer renewed. */
  readonly holdsSlots?: boolean
  compile(params: AlgorithmParams): CompiledLimit
  /** The step in Lua, which decides as the TypeScript does. */
  readonly lua: LuaStep
}
