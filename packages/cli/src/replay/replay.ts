import type { Clients } from '../log/clients.ts'
import { withRoom } from '../log/columns.ts'
import { Leaps } from '../log/leaps.ts'
import type { LogEntry } from '../log/log-entry.ts'
import { ReorderBuffer } from '../log/reorder-buffer.ts'
import { Requests } from '../log/requests.ts'
import type { ReplayPlan } from './replay-plan.ts'
import { NOBODY, type Run } from './runs/run.ts'
import type { SharedWindow } from './statistics/shared-window.ts'
import { TimelineCounts } from './statistics/timeline.ts'

/** Requests that are played together: enough that a run's states, once in the CPU caches, serve several. */
const BATCH = 32_768
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
  readonly #order: ReorderBuffer
  readonly #leaps = new Leaps((timeMs, entry) => this.#order.push(timeMs, entry))
  /**
   * The requests that are due to be played: each run plays all of them before the next run does, because a run's states
   * are then in the CPU caches.
   */
  readonly #due: Requests
  /** The number of requests of each client. */
  #requestCounts = new Uint32Array(1024)

  constructor({ runs, demands, whole }: ReplayPlan, clients: Clients) {
    this.runs = runs
    this.demands = demands
    this.clients = clients
    this.#whole = whole
    this.#due = new Requests(whole)
    this.#order = new ReorderBuffer((requests) => this.#due.append(requests), whole)
  }

  get early(): number {
    return this.#leaps.early
  }

  get late(): number {
    return this.#order.late
  }

  /** Takes a line's request; `play` plays it once no earlier one can come. */
  take(entry: LogEntry): void {
    if (this.#whole) this.#held += entry.size
    this.#leaps.push(entry)
  }

  /** Plays the requests that are due. Rejects with the errors of the user's functions. */
  async play(): Promise<void> {
    if (this.#due.length >= BATCH || this.#held > MOST_HELD) await this.#playDue()
    while (this.#held > MOST_HELD && this.#order.size > 0) {
      this.#order.releaseEarly()
      await this.#playDue()
    }
  }

  /** Plays all that is left. */
  async finish(): Promise<void> {
    this.#leaps.flush()
    this.#order.flush()
    await this.#playDue()
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
    const due = this.#due
    // Of whole entries, the limiters of a run say what clients ask for.
    if (!this.#whole) this.demands[0]?.ask(due)
    for (const run of this.runs) {
      const pending = run.play(due)
      if (pending !== undefined) await pending
    }
    for (const demand of this.demands) demand.commit(due)
    this.#count(this.runs[0]?.clients ?? due.clients)
    for (const entry of due.entries) this.#held -= entry.size
    due.clear()
  }

  #count(clients: Int32Array): void {
    const { times, length } = this.#due
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
}
