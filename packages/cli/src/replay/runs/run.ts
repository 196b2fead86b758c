import type { MaybePromise } from '@sluice/core'
import type { RunTally } from '../statistics/run-tally.ts'
import type { Batch } from './batch.ts'

/** The traffic played through one limiter. */
export interface Run {
  readonly tally: RunTally
  /**
   * Plays the next requests.
   * @returns nothing, or a promise if a user's function is asynchronous
   * @throws the errors of the user's functions
   */
  play(batch: Batch): MaybePromise<void>
  /** The client that the request at a place of the batch was counted for; `NOBODY` if exempt. */
  readonly clients: Int32Array
}

/** The number that stands for a client if the request was exempt. */
export const NOBODY = -1
