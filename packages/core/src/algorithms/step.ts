/** The state of a key, in a step: three integers whose meaning is the algorithm's. All zero: a key never seen. */
export interface StepState {
  a: number
  b: number
  c: number
  /** Whether the store's clock has stepped back behind the state, which the step has moved to the present. */
  rebased: boolean
}

/** A constant that is a list of so many numbers. */
export type List<Length extends number> = readonly number[] & { readonly length: Length }

/**
 * An algorithm's arithmetic, once for both languages: `npm run generate` makes the Lua of a constant `step` that
 * satisfies it. Each function reads and changes the state, and reads the constants of the limit: `Constants` is an
 * interface of numbers (or a `List`) in the same file, in the order of `CompiledLimit.constants`. Its last one may be `ticks`,
 * 0 where a millisecond is exact.
 *
 * There are numbers and conditions, `const`, `let`, `if`, `?:`, `return` at the end of a branch, `Math.floor`, `ceil`,
 * `min` and `max`, constants of a module, `tickAt`, `tickStart` and `tickFrom` where `ticks` are above 0, and functions
 * of the same file that are a single return, or that `own` calls as a statement. All else is an error that says what to write.
 */
export interface Step<Constants> {
  /** Brings the state to `now`, and sets `rebased`. It comes before all others. */
  enter(state: StepState, constants: Constants, now: number): void
  /** The units that are left: this cost is admitted if it is not larger, and at least one is left. */
  room(state: StepState, constants: Constants, now: number): number
  /** Charges an admitted cost. */
  commit(state: StepState, constants: Constants, now: number, cost: number): void
  /**
   * Corrects what was charged at `chargedAt` by `delta` units.
   * @param remaining units that remained after the charge; -1: not known. Only where `LuaStep.claims` has it
   */
  settle?(
    state: StepState,
    constants: Constants,
    now: number,
    delta: number,
    chargedAt: number,
    remaining: number,
  ): void
  /** The time after which a key never seen is in the same state, ms, at least; 0: it is now. */
  full(state: StepState, constants: Constants, now: number): number
  /** How long a store keeps a state that it writes anew, ms, if each renewal costs it. Left out: `fullIn`. */
  keep?(state: StepState, constants: Constants, fullIn: number): number
  /**
   * Makes the constants those of a client's own limit.
   * @param ownLimit units, with its top-ups
   * @param ownBurst units; -1: left out
   * @param ownDelay ms; -1: left out
   */
  own?(constants: Constants, ownLimit: number, ownBurst: number, ownDelay: number): void
  /** When the present window ends, ms since the epoch. Left out: it takes no top-ups. */
  grantEnd?(state: StepState, constants: Constants, now: number): number
}
