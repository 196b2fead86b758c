import type { Batch } from '../runs/batch.ts'
import type { PolicySummary } from '../runs/policy-summary.ts'
import { Departures } from './departures.ts'
import { LiveKeys } from './live-keys.ts'
import type { PolicyFigures } from './policy-figures.ts'
import type { SharedWindow } from './shared-window.ts'
import { type Most, TrueWindow } from './true-window.ts'

/** Counts the admitted units of one policy. */
export class PolicyTally implements PolicyFigures {
  readonly summary: PolicySummary
  readonly demand: SharedWindow
  readonly keys: LiveKeys
  wouldRefuse = 0
  readonly #window: TrueWindow
  readonly #lane: number
  /** The admitted requests that wait for their turn, only where they do. */
  readonly #departures: Departures | undefined

  constructor(summary: PolicySummary, demand: SharedWindow) {
    this.summary = summary
    this.demand = demand
    const windowMs = summary.windowMs ?? demand.window.windowMs
    this.keys = new LiveKeys(2 * windowMs)
    demand.limits.push(summary.limit)
    if (summary.maxDelayMs !== undefined) {
      this.#window = new TrueWindow(windowMs, 1)
      this.#lane = 0
      this.#departures = new Departures(this.#window)
    } else {
      this.#window = demand.window
      this.#lane = demand.claim()
    }
  }

  get most(): Most {
    return this.#window.most[this.#lane] as Most
  }

  /**
   * @param place the request's place in its batch
   * @param delayMs until its turn, if it was admitted
   */
  record(
    place: number,
    nowMs: number,
    client: number,
    cost: number,
    admitted: boolean,
    delayMs: number,
  ): void {
    if (this.#departures === undefined) {
      this.demand.mark(place, client, cost, admitted ? this.#lane : undefined)
      return
    }
    this.demand.mark(place, client, cost)
    if (admitted) this.#departures.add(nowMs, delayMs, client, cost)
  }

  /**
   * Counts a whole batch.
   * @param admitted 1 for each request that was admitted, else 0
   * @param delays how long each request waits for its turn, ms
   */
  count(
    { length, times, clients, costs }: Batch,
    admitted: Uint8Array,
    delays: Float64Array,
  ): void {
    for (let i = 0; i < length; i += 1) {
      const client = clients[i] as number
      const cost = costs[i] as number
      this.record(i, times[i] as number, client, cost, admitted[i] === 1, delays[i] as number)
    }
  }

  /** Releases all admitted requests that still wait. */
  finish(): void {
    this.#departures?.leaveUntil(Infinity)
  }

  /** The most units that the client was admitted in a window. */
  peak(client: number): number {
    return this.#window.peak(client, this.#lane)
  }
}
