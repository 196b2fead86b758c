import { Heap } from 'heap-js'
import { withRoom } from '../../log/columns.ts'
import type { Batch } from '../runs/batch.ts'
import type { PolicySummary } from '../runs/policy-summary.ts'
import { LiveKeys } from './live-keys.ts'
import type { PolicyFigures } from './policy-figures.ts'
import type { Most } from './true-window.ts'

/** How long a key commonly stays in use, ms: the resolution of the keys. */
const TYPICAL_MS = 60_000

interface End {
  readonly atMs: number
  readonly client: number
}

/** Counts the admitted requests of a policy with `concurrent`: the most of each client at the same time. */
export class InProgress implements PolicyFigures {
  readonly summary: PolicySummary
  readonly keys = new LiveKeys(TYPICAL_MS)
  wouldRefuse = 0
  most: Most = { units: 0, client: -1, atMs: 0 }
  readonly #ends = new Heap<End>((one, other) => one.atMs - other.atMs)
  /** How many requests of each client are in progress. */
  #counts = new Int32Array(1024)
  #peaks = new Int32Array(1024)
  /** When the last request of each client ends, ms. */
  #lastEnds = new Float64Array(1024)

  constructor(summary: PolicySummary) {
    this.summary = summary
  }

  /** @param durationMs how long the request takes */
  begin(nowMs: number, client: number, durationMs: number): void {
    this.#endUntil(nowMs)
    if (client >= this.#counts.length) {
      this.#counts = withRoom(this.#counts, client)
      this.#peaks = withRoom(this.#peaks, client)
      this.#lastEnds = withRoom(this.#lastEnds, client)
    }
    const units = (this.#counts[client] as number) + 1
    this.#counts[client] = units
    if (units > (this.#peaks[client] as number)) this.#peaks[client] = units
    if (units > this.most.units) this.most = { units, client, atMs: nowMs }
    const atMs = nowMs + durationMs
    if (atMs > (this.#lastEnds[client] as number)) this.#lastEnds[client] = atMs
    this.#ends.push({ atMs, client })
  }

  /** The time until nothing of the client is in progress, ms. */
  fullIn(nowMs: number, client: number): number {
    return Math.max(0, (this.#lastEnds[client] ?? 0) - nowMs)
  }

  /**
   * A whole batch.
   * @param admitted 1 for each request that was admitted, else 0
   * @param resets filled for each request: the ms until nothing of its client is in progress
   */
  count(
    { length, times, clients, durations }: Batch,
    admitted: Uint8Array,
    resets: Float64Array,
  ): void {
    for (let i = 0; i < length; i += 1) {
      const nowMs = times[i] as number
      const client = clients[i] as number
      if (admitted[i] === 1) this.begin(nowMs, client, durations[i] as number)
      resets[i] = this.fullIn(nowMs, client)
    }
  }

  peak(client: number): number {
    return this.#peaks[client] ?? 0
  }

  finish(): void {
    this.#endUntil(Infinity)
  }

  #endUntil(timeMs: number): void {
    for (;;) {
      const first = this.#ends.peek()
      if (first === undefined || first.atMs > timeMs) return
      this.#ends.pop()
      this.#counts[first.client] = (this.#counts[first.client] as number) - 1
    }
  }
}
