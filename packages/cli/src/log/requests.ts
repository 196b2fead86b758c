import { withRoom } from './columns.ts'
import type { LogEntry } from './log-entry.ts'

/** Requests in columns: there may be millions, of which nearly all need no more than four numbers. */
export class Requests {
  length = 0
  times = new Float64Array(64)
  /** The client of each request, by its number in the log. */
  clients = new Int32Array(64)
  costs = new Float64Array(64)
  /** Ms. */
  durations = new Float64Array(64)
  /** The entries of the log, if they are kept. */
  entries: LogEntry[] = []
  /** True while the times ascend. */
  isOrdered = true
  readonly #keepsEntries: boolean

  constructor(keepsEntries: boolean) {
    this.#keepsEntries = keepsEntries
  }

  add(timeMs: number, entry: LogEntry): void {
    this.#set(timeMs, entry.client, entry.cost, entry.durationMs)
    if (this.#keepsEntries) this.entries.push(entry)
  }

  append({ length, times, clients, costs, durations, entries }: Requests): void {
    for (let i = 0; i < length; i += 1) {
      this.#set(
        times[i] as number,
        clients[i] as number,
        costs[i] as number,
        durations[i] as number,
      )
      if (this.#keepsEntries) this.entries.push(entries[i] as LogEntry)
    }
  }

  /** Sorts them by time; of the same time, what came first stays first. */
  sort(): void {
    const { length, times, clients, costs, durations, entries } = this
    const order = Array.from({ length }, (_, i) => i)
    order.sort((a, b) => (times[a] as number) - (times[b] as number))
    this.times = Float64Array.from(order, (i) => times[i] as number)
    this.clients = Int32Array.from(order, (i) => clients[i] as number)
    this.costs = Float64Array.from(order, (i) => costs[i] as number)
    this.durations = Float64Array.from(order, (i) => durations[i] as number)
    if (this.#keepsEntries) this.entries = order.map((i) => entries[i] as LogEntry)
    this.isOrdered = true
  }

  clear(): void {
    this.length = 0
    this.entries = []
  }

  #set(timeMs: number, client: number, cost: number, durationMs: number): void {
    const { length } = this
    if (length >= this.times.length) {
      this.times = withRoom(this.times, length)
      this.clients = withRoom(this.clients, length)
      this.costs = withRoom(this.costs, length)
      this.durations = withRoom(this.durations, length)
    }
    if (length > 0 && timeMs < (this.times[length - 1] as number)) this.isOrdered = false
    this.times[length] = timeMs
    this.clients[length] = client
    this.costs[length] = cost
    this.durations[length] = durationMs
    this.length = length + 1
  }
}
