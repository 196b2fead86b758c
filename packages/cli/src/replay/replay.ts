import { Arrivals } from '../log/arrivals.ts'
import type { Clients } from '../log/clients.ts'
import { withRoom } from '../log/columns.ts'
import { Leaps } from '../log/leaps.ts'
import type { LogEntry } from '../log/log-entry.ts'
import { ReorderBuffer } from '../log/reorder-buffer.ts'
import type { ReplayPlan } from './replay-plan.ts'
import { Batch } from './runs/batch.ts'
import { NOBODY, type Run } from './runs/run.ts'
import type { SharedWindow } from './statistics/shared-window.ts'
import { TimelineCounts } from './statistics/timeline.ts'

/** Bytes of lines that are kept whole until they are played: above it the oldest are played early. */
const MOST_HELD = 128 * 1024 * 1024

/** Plays a log's requests through all runs, in the log's own time. */
export class Replay {
  readonly runs: readonly Run[]
  readonly demands: readonly SharedWindow[]
  readonly clients: Clients
  /** The timeline of all requests, its only series. */
  readonly timeline = new TimelineCounts(1)
  requests = 0
  /** Clients that were limited, whether refused or not. */
  clientsMet = 0
  fromMs = 0
  toMs = 0
  readonly #whole: boolean
  /** Bytes of the lines that are kept whole. */
  #held = 0
  readonly #arrivals = new Arrivals()
  readonly #order = new ReorderBuffer((timeMs, handle) => this.#queue(timeMs, handle))
  readonly #leaps = new Leaps((timeMs, handle) => this.#order.push(timeMs, handle))
  readonly #batch = new Batch()
  /** The requests that are due to be played. */
  #dueTimes = new Float64Array(1024)
  #dueHandles = new Int32Array(1024)
  #due = 0
  /** The number of requests of each client. */
  #requestCounts = new Uint32Array(1024)

  constructor({ runs, demands, whole }: ReplayPlan, clients: Clients) {
    this.runs = runs
    this.demands = demands
    this.clients = clients
    this.#whole = whole
  }

  get early(): number {
    return this.#leaps.early
  }

  get late(): number {
    return this.#order.late
  }

  /** Takes a line's request; `play` plays it once no earlier one can come. */
  take(entry: LogEntry): void {
    const kept = this.#whole ? entry : undefined
    if (this.#whole) this.#held += entry.size
    this.#leaps.push(entry.time, this.#arrivals.add(entry, kept))
  }

  /** Plays the requests that are due. Rejects with the errors of the user's functions. */
  async play(): Promise<void> {
    await this.#playDue()
    while (this.#held > MOST_HELD && this.#order.size > 0) {
      this.#order.releaseEarly()
      await this.#playDue()
    }
  }

  /** Plays all that is left. */
  async finish(): Promise<void> {
    this.#leaps.flush()
    this.#order.flush()
    await this.play()
    await this.#playBatch()
    for (const { tally } of this.runs) tally.finish()
  }

  /** Requests of a client. */
  requestsOf(client: number): number {
    return this.#requestCounts[client] ?? 0
  }

  /** The client with the most requests, or -1. */
  largestClient(): number {
    let largest = -1
    for (let client = 0; client < this.#requestCounts.length; client += 1) {
      if (this.requestsOf(client) > this.requestsOf(largest)) largest = client
    }
    return largest
  }

  async #playDue(): Promise<void> {
    const arrivals = this.#arrivals
    for (let i = 0; i < this.#due; i += 1) {
      const handle = this.#dueHandles[i] as number
      const timeMs = this.#dueTimes[i] as number
      this.#batch.add(
        timeMs,
        arrivals.client(handle),
        arrivals.cost(handle),
        arrivals.duration(handle),
        arrivals.entry(handle),
      )
      arrivals.release(handle)
      if (this.#batch.isFull) await this.#playBatch()
    }
    this.#due = 0
    if (this.#held > MOST_HELD) await this.#playBatch()
  }

  async #playBatch(): Promise<void> {
    const batch = this.#batch
    for (const run of this.runs) {
      const pending = run.play(batch)
      if (pending !== undefined) await pending
    }
    if (this.runs.length === 0) this.#ask()
    for (const demand of this.demands) demand.commit(batch.times, batch.length)
    this.#count(this.runs[0]?.clients ?? batch.clients)
    for (const entry of batch.entries) this.#held -= entry?.size ?? 0
    batch.entries.length = 0
    batch.length = 0
  }

  /** Counts the demand alone, where there are no runs. */
  #ask(): void {
    const { length, clients, costs } = this.#batch
    for (let i = 0; i < length; i += 1) {
      this.demands[0]?.mark(i, clients[i] as number, costs[i] as number)
    }
  }

  #count(clients: Int32Array): void {
    const { times, length } = this.#batch
    if (length === 0) return
    if (this.requests === 0) this.fromMs = times[0] as number
    this.toMs = times[length - 1] as number
    this.requests += length
    for (let i = 0; i < length; i += 1) {
      this.timeline.enter(times[i] as number)
      this.timeline.count(0)
      const client = clients[i] as number
      if (client !== NOBODY) this.#meet(client)
    }
  }

  #meet(client: number): void {
    if (client >= this.#requestCounts.length) {
      this.#requestCounts = withRoom(this.#requestCounts, client)
    }
    const count = this.#requestCounts[client] as number
    if (count === 0) this.clientsMet += 1
    this.#requestCounts[client] = count + 1
  }

  #queue(timeMs: number, handle: number): void {
    const place = this.#due
    if (place === this.#dueTimes.length) {
      this.#dueTimes = withRoom(this.#dueTimes, place)
      this.#dueHandles = withRoom(this.#dueHandles, place)
    }
    this.#dueTimes[place] = timeMs
    this.#dueHandles[place] = handle
    this.#due = place + 1
  }
}
