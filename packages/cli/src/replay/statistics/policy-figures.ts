import type { PolicySummary } from '../runs/policy-summary.ts'
import type { LiveKeys } from './live-keys.ts'
import type { Most } from './true-window.ts'

/** A request that a policy has decided. */
export interface Decided {
  /** Its place among the requests that are played together. */
  place: number
  nowMs: number
  /** The client that the policy has counted it for. */
  client: number
  cost: number
  /** Whether all policies admit it. */
  admitted: boolean
  /** Until its turn, if it was admitted, ms. */
  delayMs: number
  /** Until the quota is full, ms. */
  resetMs: number
  durationMs: number
}

/** The counts of each policy of a run. */
export interface PolicyFigures {
  readonly summary: PolicySummary
  readonly keys: LiveKeys
  /** Requests that a dry run would have refused. */
  wouldRefuse: number
  /** The most of one client, in a window or at the same time. */
  readonly most: Most
  count(request: Decided): void
  /** The most of each client, in a window or at the same time. */
  peak(client: number): number
  /** Ends the run. */
  finish(): void
}
