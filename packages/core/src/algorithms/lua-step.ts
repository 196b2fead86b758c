/** Bytes of a state in Redis: a, b, c and the time (ms) until which the key lives, as doubles. */
export const STATE_BYTES = 32
/**
 * What an outcome in a reply of a script is: the last of its four numbers, and 1 less where the client has something of
 * its own. A state that is replied as it is stored has 0 or more there.
 */
export const OUTCOME = {
  /** A state, on which TypeScript repeats the decision. */
  state: 0,
  /** What the script has decided, since it alone sees all that the key has. */
  decided: -2,
  /** For how long the client is blocked. */
  blocked: -4,
  /** The key can't be read. */
  unreadable: -6,
} as const

/** Bytes of each entry of a log, which stand behind it. */
export const ENTRY_BYTES = 16

/**
 * The Lua form of a step: statements, in sections that `stores/redis` puts into its scripts, each
 * policy's in a block of its own. All see the constants by name, and the functions of `ticks.ts` where
 * `ticks` is above 0. `npm run generate` makes them of a `Step`.
 *
 * | section  | reads                                          | sets                                      |
 * | -------- | ---------------------------------------------- | ----------------------------------------- |
 * | `check`  | `now`                                          | `problem`: why the step can't be run      |
 * | `enter`  | `now`, the state `a`, `b`, `c`                 | the state as it is at `now`; `rebased`    |
 * | `decide` | `now`, `cost`, the state at `now`              | `admitted`                                |
 * | `commit` | `now`, `cost`, the state at `now`              | the state, charged                        |
 * | `settle` | `now`, `delta`, `chargedAt`, the state at `now` | the state, corrected                     |
 * | `full`   | `now`, the state at `now`                      | `fullIn`: ms until the limit is full      |
 * |          |                                                | again, at least (0: it is)                |
 * | `keep`   | `fullIn`, the same                             | `keepFor`: ms to keep a state that is     |
 * |          |                                                | written anew, `fullIn` until it is set    |
 *
 * | `own`    | `ownLimit` (units), `ownBurst`, `ownDelay`     | the constants of this limit in place of   |
 * |          | (-1: left out), the constants                  | the policy's                              |
 * | `grantEnd` | `now`, the state at `now`                    | `ends`: when the present window ends, ms  |
 *
 * `enter` comes before `decide` and before `settle`, `full` after `commit`, `settle` and `renew`,
 * each time in the same block. Names of Lua's libraries are not in use for anything else.
 */
export interface LuaStep {
  /**
   * Names of the constants, in the order of `CompiledLimit.constants`. The last one is `ticks` where
   * a step can count in ticks coarser than a millisecond: it is 0 where a limit needs none.
   */
  readonly constants: readonly string[]
  /** True if the constants change with time, except the first one, which is the limit in units. */
  readonly constantsMove?: true
  readonly check?: string
  readonly enter?: string
  readonly decide: string
  readonly commit: string
  readonly settle?: string
  /**
   * The numbers of a claim, in its order, that `decide` and `commit` see, and those that `settle` sees: each by its name,
   * with what it is where the claim has none. Left out: none
   */
  readonly claims?: {
    readonly decide: Readonly<Record<string, number>>
    readonly settle: Readonly<Record<string, number>>
  }
  readonly full?: string
  readonly keep?: string
  /** Left out: clients have no limits of their own. */
  readonly own?: string
  /** Left out: the algorithm takes no top-ups. The first constant is the limit in units where it does. */
  readonly grantEnd?: string
  /** The sections of a step that keeps entries behind its state. Only the script sees the entries. */
  readonly entries?: LuaEntries
}

/**
 * The further sections of a step that keeps entries, behind its state or in the sorted set of `held.lua.ts`. They
 * also see `key`, the key of the state, and `livesUntil` (ms; 0: there was no state; -1: it is to be written whole).
 *
 * They are written by hand, since entries are arrays in TypeScript, and bytes or a sorted set in Redis: a call reads
 * as few of them as it can.
 */
export interface LuaEntries {
  /** Functions that the sections call: no two steps have one of the same name. */
  readonly functions: string
  /**
   * Runs after `decide`. Reads `admitted`, and `cost`, which is 0 where another policy refuses what this
   * one admits. Sets `remaining` and `excess` (units), `resetIn` and `wait` (ms, or -1: never). Left out by a step whose `decide`
   * sets `raw` to a state on which TypeScript repeats the decision. Then `settle` sets `raw` to the state before, and
   * `corrected` to by how much it corrects that and since when (units, ms: 16 bytes).
   */
  readonly show?: string
  /**
   * Only for a step that holds something in the sorted set: reads `slots`, the first numbers of some claims, and holds
   * all of them anew.
   */
  readonly renew?: string
}
