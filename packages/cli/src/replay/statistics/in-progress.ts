import { withRoom } from '../../log/columns.ts'
import type { PolicySummary } from '../runs/policy-summary.ts'
import { Agenda } from './agenda.ts'
import { LiveKeys } from './live-keys.ts'
import type { Decided, PolicyFigures } from './policy-figures.ts'
import type { Most } from './true-window.ts'

/** How long a key commonly stays in use, ms: the resolution of the keys. */
const TYPICAL_MS = 60_000

/** Counts the admitted requests of a policy with `concurrent`: the most of each client at the same time. */
export class InProgress implements PolicyFigures {
  readonly summary: PolicySummary
  readonly keys = new LiveKeys(TYPICAL_MS)
  wouldRefuse = 0
  most: Most = { units: 0, client: -1, atMs: 0 }
  readonly #ends = new Agenda<number>((_, client) => {
    this.#counts[client] = (this.#counts[client] as number) - 1
  })
  /** How many requests of each client are in progress. */
  #counts = new Int32Array(1024)
  #peaks = new Int32Array(1024)
  /** When the last request of each client ends, ms. */
  #lastEnds = new Float64Array(1024)

  constructor(summary: PolicySummary) {
    this.summary = summary
  }

  count({ nowMs, client, admitted, durationMs }: Decided): void {
    if (admitted) this.#begin(nowMs, client, nowMs + durationMs)
    this.keys.touch(client, nowMs, Math.max(0, (this.#lastEnds[client] ?? 0) - nowMs))
  }

  #begin(nowMs: number, client: number, endMs: number): void {
    this.#ends.runUntil(nowMs)
    if (client >= this.#counts.length) {
      this.#counts = withRoom(this.#counts, client)
      this.#peaks = withRoom(this.#peaks, client)
      this.#lastEnds = withRoom(this.#lastEnds, client)
    }
    const units = (this.#counts[client] as number) + 1
    this.#counts[client] = units
    if (units > (this.#peaks[client] as number)) this.#peaks[client] = units
    if (units > this.most.units) this.most = { units, client, atMs: nowMs }
    if (endMs > (this.#lastEnds[client] as number)) this.#lastEnds[client] = endMs
    this.#ends.add(endMs, client)
  }

  peak(client: number): number {
    return this.#peaks[client] ?? 0
  }

  finish(): void {}
}
