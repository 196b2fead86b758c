import type { Decision, PolicyDecision, PolicyOptions } from '@sluice/core'

/** The answer of one policy to a request. Units and ms. */
export type Said = Pick<
  PolicyDecision,
  'allowed' | 'remaining' | 'resetMs' | 'retryAfterMs' | 'delayMs'
>

/** What a store has answered. */
export interface Answer extends Pick<Decision, 'at' | 'allowed'> {
  /** In the order of the policies. */
  readonly policies: readonly Said[]
}

/** What is asked of one key: to charge so many units, or to give back some that were charged. */
export type Asked =
  | { readonly cost: number }
  | { readonly giveBack: number; readonly chargedAt: number }

/** What a process asked of one key, and what became of it. */
export interface Operation {
  readonly process: number
  readonly asked: Asked
  /** When it was asked, ms on the machine's monotonic clock, which all processes share. */
  readonly called: number
  /** When it was over, on the same clock: after that, nobody can carry it out. `Infinity`: unknown. */
  readonly over: number
  /** False: perhaps it was never carried out. */
  readonly isCertain: boolean
  /** Undefined: it was lost, or there is none. */
  readonly answer?: Answer | undefined
  /** The earliest time of the store at which it can have been carried out, ms; only without an answer. */
  readonly from: number
  /** The latest. */
  readonly to: number
}

/** A time during which a store was down, ms on the monotonic clock. */
export interface Outage {
  readonly from: number
  readonly to: number
}

/** An outage in which the store lost what it had counted. */
export interface Loss extends Outage {
  /** Which writes it may have lost: the last ones, up to all since this time; or every one. */
  readonly lost: { readonly since: number } | 'everything'
}

/** All that was asked of one key. */
export interface History {
  /** Decided together, all or nothing. */
  readonly policies: readonly PolicyOptions[]
  readonly operations: readonly Operation[]
  readonly losses: readonly Loss[]
  /**
   * How much earlier than others that were carried out before it an answer may be, ms. 0: the store reads its time when
   * it carries out
   */
  readonly earlyMs: number
}
