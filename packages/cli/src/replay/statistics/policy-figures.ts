import type { PolicySummary } from '../runs/policy-summary.ts'
import type { LiveKeys } from './live-keys.ts'
import type { Most } from './true-window.ts'

/** The counts of each policy of a run. */
export interface PolicyFigures {
  readonly summary: PolicySummary
  readonly keys: LiveKeys
  /** Requests that a dry run would have refused. */
  readonly wouldRefuse: number
  /** The most of one client, in a window or at the same time. */
  readonly most: Most
  /** The most of each client, in a window or at the same time. */
  peak(client: number): number
  /** Ends the run. */
  finish(): void
}
