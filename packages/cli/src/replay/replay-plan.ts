import type { Run } from './runs/run.ts'
import type { SharedWindow } from './statistics/shared-window.ts'

/** How a log is replayed. */
export interface ReplayPlan {
  readonly runs: readonly Run[]
  /** The demand of clients, counted for the runs. */
  readonly demands: readonly SharedWindow[]
  /** True: the runs read more of an entry than its key and cost. */
  readonly whole: boolean
  /** Notes on the replay for the user. */
  readonly notes: readonly string[]
}
