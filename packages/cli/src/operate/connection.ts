import type { InspectableStore } from '@sluice/core'
import type { Health } from './health.ts'

/** How long it waits for a connection, or for an answer, ms. */
export const TIMEOUT_MS = 5000

/** A store that the command has opened. */
export interface Connection {
  readonly store: InspectableStore<'async'>
  /** Asks each server for its state. */
  health(): Promise<readonly Health[]>
  close(): void
}
