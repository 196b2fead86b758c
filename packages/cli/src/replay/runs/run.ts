import type { MaybePromise } from '@sluice/core'
import type { Requests } from '../../log/requests.ts'
import type { RunTally } from '../statistics/run-tally.ts'

/** The traffic played through one limiter. */
export interface Run {
  readonly tally: RunTally
  /**
   * Plays the next requests.
   * @returns nothing, or a promise if a user's function is asynchronous
   * @throws the errors of the user's functions
   */
  play(requests: Requests): MaybePromise<void>
  /** The client that the request at a place was counted for; `NOBODY` if exempt. */
  readonly clients: Int32Array
}

/** The number that stands for a client if the request was exempt. */
export const NOBODY = -1
