import { withRoom } from './columns.ts'
import type { LogEntry } from './log-entry.ts'

/** Requests on their way from the line to their place in time, by reusable handles. */
export class Arrivals {
  #clients = new Int32Array(1024)
  #costs = new Float64Array(1024)
  #durations = new Float64Array(1024)
  readonly #entries: (LogEntry | undefined)[] = []
  /** The free handles as a list: each leads to the one that was freed before it, or to -1. */
  #next = new Int32Array(1024)
  #free = -1
  #used = 0

  /** @param kept undefined where client, cost and duration are all that counts */
  add({ client, cost, durationMs }: LogEntry, kept: LogEntry | undefined): number {
    const handle = this.#free < 0 ? this.#used++ : this.#free
    if (handle === this.#free) this.#free = this.#next[handle] as number
    if (handle >= this.#clients.length) {
      this.#clients = withRoom(this.#clients, handle)
      this.#costs = withRoom(this.#costs, handle)
      this.#durations = withRoom(this.#durations, handle)
      this.#next = withRoom(this.#next, handle)
    }
    this.#clients[handle] = client
    this.#costs[handle] = cost
    this.#durations[handle] = durationMs
    if (kept !== undefined) this.#entries[handle] = kept
    return handle
  }

  client(handle: number): number {
    return this.#clients[handle] as number
  }

  cost(handle: number): number {
    return this.#costs[handle] as number
  }

  /** Ms. */
  duration(handle: number): number {
    return this.#durations[handle] as number
  }

  entry(handle: number): LogEntry | undefined {
    return this.#entries[handle]
  }

  release(handle: number): void {
    if (this.#entries[handle] !== undefined) this.#entries[handle] = undefined
    this.#next[handle] = this.#free
    this.#free = handle
  }
}
