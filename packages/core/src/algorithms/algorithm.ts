import type { Calendar } from './calendar-window/calendar.ts'
import type { Held } from './held/held.ts'
import type { LuaStep } from './lua-step.ts'
import type { Log } from './sliding-log/log.ts'

/** The largest limit of an algorithm that multiplies units with time, units: their products stay exact. */
export const MAX_LIMIT = 1_000_000_000_000

/** The most units by which charges of these algorithms are corrected at once: any of their limits. */
export function mostSettled(algorithms: readonly Pick<Algorithm, 'maxLimit'>[]): number {
  return Math.max(MAX_LIMIT, Math.min(...algorithms.map(({ maxLimit }) => maxLimit)))
}

/** The parameters of a policy, in the user's numbers. */
export interface AlgorithmParams {
  /** Requests (units of cost) per window, integer, 0 … `Algorithm.maxLimit`. */
  readonly limit: number
  /** ms, integer, 1 … ten years. */
  readonly windowMs: number
  /** Token bucket: its capacity in units. Default: `limit`. */
  readonly burst?: number | undefined
  /** Leaky bucket: the longest that an admitted request waits, ms. */
  readonly maxDelayMs?: number | undefined
  /** Windows of the calendar: which. */
  readonly calendar?: Calendar | undefined
  /** Whether requests of one key have other limits too. */
  readonly varies?: boolean | undefined
  /** See `CompiledLimit.refuses`. Default: true */
  readonly refuses?: boolean | undefined
  /** With reservations: how long one is held without renewal, ms. */
  readonly holdMs?: number | undefined
  /** Ban: how long each one lasts, ms, one after the other; the last one again and again. */
  readonly bansMs?: readonly number[] | undefined
}

/** The parameters that clients of one policy may have different ones of. */
export type OwnParams = Pick<AlgorithmParams, 'limit' | 'burst' | 'maxDelayMs'>

/** A client's own limit, in place of its policy's. */
export interface Override extends OwnParams {
  /** When it ends, ms since the epoch; `Infinity`: when it is ended. */
  readonly until: number
}

/** Units that a client has in addition to a limit. */
export interface Grant {
  readonly units: number
  /** When it ends, ms since the epoch. */
  readonly until: number
  /** Tells it apart from others, 24 hexadecimal digits; `''`: nothing does. */
  readonly id: string
}

/** A client's own limit, top-ups and block in one policy: a record beside its counts, for any window and algorithm. */
export interface OwnTerms {
  readonly override: Override | undefined
  readonly grants: readonly Grant[]
  /** When its block ends, ms since the epoch: until then every charge is refused. 0: there is none. */
  readonly blockedUntil: number
}

/**
 * Numbers in a charge or its correction that only its limit understands, such as the slot that it takes: see
 * `held/claim.ts` and `CompiledLimit.placeOf`. Stores pass them on. They read at most the first number, which identifies
 * what is renewed.
 */
export type Claim = readonly number[]

/** How a charge is corrected. */
export interface Correction {
  /** Units: negative ones are given back. */
  readonly delta: number
  /** When it was charged, ms. */
  readonly chargedAt: number
  readonly claim?: Claim | undefined
}

/** The result of one policy. All times are integer ms from the moment of the decision. */
export interface Outcome {
  admitted: boolean
  /** Whole units that would still be admitted at this moment. */
  remaining: number
  /** Units in use beyond what the quota holds: a debt, or its limit was lowered. Left out: none */
  excess?: number | undefined
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
  /** Charged on a refusal: this very request was counted. If it refuses, it begins with it. */
  counted?: boolean
  /** The client's own limit, if that has decided in place of the charge's. */
  own?: Pick<CompiledLimit, 'units' | 'windowMs'> | undefined
  /** The time until its own limit changes by itself; `Infinity`: it does not. Without one it has no meaning. */
  ownMs?: number
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
  /** The slots or reservations of the key; undefined: it has none, or the algorithm counts otherwise. */
  held: Held | undefined = undefined
  /**
   * True if the store's clock has stepped back behind the state, which the step has moved to the
   * present. The store keeps the moved state even of a refusal, so that no client stays locked out
   * until the clock has caught up.
   */
  rebased = false

  admitted = false
  remaining = 0
  excess = 0
  resetMs = 0
  retryAfterMs = 0
  effectiveMs = 0
  delayMs = 0
  counted = false
  /** The client's own limit, top-ups and block. The store loads them. */
  terms: OwnTerms | undefined = undefined
  own: CompiledLimit | undefined = undefined
  ownMs = Infinity
}

/** Refuses, with nothing left, for so many ms, whatever the quota says. */
export function refuseFor(state: KeyState, ms: number): void {
  state.admitted = false
  state.remaining = 0
  state.excess = 0
  state.resetMs = ms
  state.retryAfterMs = ms
  state.effectiveMs = ms
  state.delayMs = 0
}

/**
 * A policy's parameters, compiled into exact integers for one algorithm. Immutable.
 *
 * It reads the states that other limits of the algorithm with the same window have written: what they have
 * counted counts for it too.
 */
export interface CompiledLimit {
  readonly algorithm: Algorithm
  /** The parameters that it was compiled from. */
  readonly params: AlgorithmParams
  /**
   * Whether it decides. If not, a charge that its quota would refuse is left out, and the others are decided as if it
   * were not there. Limits that differ in this alone count in the same states.
   */
  readonly refuses: boolean
  /** The most that the quota ever holds, in units; what headers and decisions call the limit. */
  readonly units: number
  /** ms. */
  readonly windowMs: number
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
  decide(state: KeyState, now: number, cost: number, claim?: Claim): void
  /**
   * Charges the state, which `decide` has brought to `now`, with `cost` units. An algorithm that holds slots charges
   * nothing without a claim.
   */
  commit(state: KeyState, now: number, cost: number, claim?: Claim): void
  /**
   * Corrects by `delta` units what was charged at `chargedAt`: gives back (negative), down to an
   * untouched quota, or charges more (positive), into debt if necessary. Only in the window that
   * was charged: once that has passed, nothing changes. A token bucket gives back what has not drained
   * since. A queue gives back only while nobody is behind the charge: those who are keep their turns. So the requests of any span never really cost more than the algorithm's bound, whenever
   * and in whatever order they are settled. Leaves `remaining`, `excess` and `resetMs`.
   *
   * An algorithm that holds slots gives back exactly the claimed one (negative), if it is still held;
   * or holds it anew from `now` on (positive), also if it was lost or all others are in use.
   *
   * An algorithm that keeps reservations ends the claimed one, if it was charged any units, and corrects it by `delta`.
   * If it has been given back meanwhile, what it really cost is charged at `now`. A correction that is remembered changes
   * nothing.
   */
  settle(state: KeyState, now: number, correction: Correction): void
  /**
   * The claim of a correction, by the units that remained after the charge: a queue sees by them whether anybody is behind
   * it. Without it, a queue gives back only if it had nothing else. Left out: it is that of the charge.
   */
  placeOf?(remaining: number): Claim
  /**
   * How long the state must be kept, ms from `now` on, where that is longer than `resetMs`. Left out: until
   * the quota is full again.
   */
  keepMs?(state: KeyState, now: number): number
  /**
   * When a top-up ends that is made at `now` and has no end of its own, ms since the epoch: with the
   * present window. It may change the state. Left out: the algorithm takes no top-ups, since it has no window.
   */
  grantEnd?(state: KeyState, now: number): number
  /**
   * Holds what is claimed anew from `now` on, as `settle` does with each of them, in time that grows with
   * the slots in use and not with their square. Leaves `remaining` and `resetMs`. An algorithm that keeps
   * reservations holds those which it still has. Left out by an algorithm that does neither.
   */
  renew?(state: KeyState, now: number, claims: readonly Claim[]): void
  /**
   * When a charge behind others is admitted at the earliest, ms since the epoch, whatever else the key was charged, unless
   * something is given back. Left out: nobody can know.
   */
  earliest?(line: InLine): number
}

/** The other form of a limit, which differs in `refuses` alone. */
const otherForms = new WeakMap<CompiledLimit, CompiledLimit>()

/** The form of a limit that refuses, or the one that refuses nothing: always the same objects. */
export function formOf(limit: CompiledLimit, refuses: boolean): CompiledLimit {
  if (limit.refuses === refuses) return limit
  let other = otherForms.get(limit)
  if (other === undefined) {
    other = limit.algorithm.compile({ ...limit.params, refuses })
    otherForms.set(limit, other).set(other, limit)
  }
  return other
}

/** Whether two limits of one keyspace count alike, in any form: limits that are functions, and bursts, differ. */
export function areSame(one: CompiledLimit, other: CompiledLimit): boolean {
  if (one === other) return true
  const now = Date.now()
  const constants = one.constants(now)
  const others = other.constants(now)
  return constants.length === others.length && constants.every((n, i) => n === others[i])
}

/** A charge that waits behind others, for a limit that refuses them. */
export interface InLine {
  /** The cost of the charges before it, units. */
  readonly ahead: number
  /** Its own cost, units. */
  readonly cost: number
  /** When the limit admits again, ms since the epoch. */
  readonly at: number
  /** Units that it can admit then. */
  readonly free: number
  /** The limit and the window that hold for the key, in units and ms: those that a decision shows. */
  readonly limit: number
  readonly windowMs: number
}

/** The base of limits whose constants never change. */
export class ConstantLimit {
  readonly params: AlgorithmParams
  readonly refuses: boolean
  readonly units: number
  readonly windowMs: number
  readonly #numbers: readonly number[]

  /**
   * @param numbers the constants of the Lua form
   * @param shown what the headers call the quota and its window
   */
  constructor(
    params: AlgorithmParams,
    numbers: readonly number[] = [params.limit, params.windowMs],
    shown: { readonly limit: number; readonly windowMs: number } = params,
  ) {
    this.params = params
    this.refuses = params.refuses ?? true
    this.units = shown.limit
    this.windowMs = shown.windowMs
    this.#numbers = numbers
  }

  constants(_now: number): readonly number[] {
    return this.#numbers
  }
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
  /** True: how a state changes with time depends on the limit, so that nobody else can read it. */
  readonly drains?: boolean
  /** True: a charge claims a slot, in use until it is given back or no longer renewed. */
  readonly holdsSlots?: boolean
  /** True: a charge with a claim is an estimate, given back unless it is renewed or settled. */
  readonly reserves?: boolean
  /**
   * When its charges are made: if the request is admitted, or if another policy refuses its key. On a refusal it
   * counts for all of the policies, so it is the last one, nothing corrects it, and no client has anything of its own
   * in it. Left out: on admission
   */
  readonly chargedOn?: 'refusal'
  /** The most entries of a key's log, where that does not depend on the limit. */
  readonly maxEntries?: number
  compile(params: AlgorithmParams): CompiledLimit
  /** Loads the step in Lua, which decides as the TypeScript does. */
  lua(): Promise<LuaStep>
}
