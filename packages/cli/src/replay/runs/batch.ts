import type { LogEntry } from '../../log/log-entry.ts'

/** Requests in a batch: enough that a run's states, once in the CPU caches, serve several. */
export const BATCH = 32_768

/**
 * Requests that are played together, in the order of time: each run plays all of them before the
 * next run does, because a run's states are then in the CPU caches.
 */
export class Batch {
  length = 0
  readonly times = new Float64Array(BATCH)
  /** The client of each request, by its number in the log. */
  readonly clients = new Int32Array(BATCH)
  readonly costs = new Float64Array(BATCH)
  /** Ms. */
  readonly durations = new Float64Array(BATCH)
  /** The entries of the log, only where whole entries were asked for. */
  readonly entries: (LogEntry | undefined)[] = []

  get isFull(): boolean {
    return this.length === BATCH
  }

  add(
    timeMs: number,
    client: number,
    cost: number,
    durationMs: number,
    entry: LogEntry | undefined,
  ): void {
    const place = this.length
    this.times[place] = timeMs
    this.clients[place] = client
    this.costs[place] = cost
    this.durations[place] = durationMs
    if (entry !== undefined) this.entries[place] = entry
    this.length = place + 1
  }
}
