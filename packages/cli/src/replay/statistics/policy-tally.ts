import type { PolicySummary } from '../runs/policy-summary.ts'
import { Agenda } from './agenda.ts'
import { LiveKeys } from './live-keys.ts'
import type { Decided, PolicyFigures } from './policy-figures.ts'
import type { SharedWindow } from './shared-window.ts'
import { type Most, TrueWindow } from './true-window.ts'

/** Counts the admitted units of one policy. */
export class PolicyTally implements PolicyFigures {
  readonly summary: PolicySummary
  readonly keys: LiveKeys
  wouldRefuse = 0
  readonly #demand: SharedWindow
  readonly #window: TrueWindow
  readonly #lane: number
  /**
   * The admitted requests of a leaky bucket, which wait for their turn: they count when they go on, because that is what
   * reaches the application.
   */
  readonly #waiting: Agenda<{ readonly client: number; readonly cost: number }> | undefined

  constructor(summary: PolicySummary, demand: SharedWindow) {
    this.summary = summary
    this.#demand = demand
    const windowMs = summary.windowMs ?? demand.window.windowMs
    this.keys = new LiveKeys(2 * windowMs)
    demand.limits.push(summary.limit)
    if (summary.maxDelayMs === undefined) {
      this.#window = demand.window
      this.#lane = demand.claim()
      return
    }
    const window = new TrueWindow(windowMs, 1)
    this.#window = window
    this.#lane = 0
    this.#waiting = new Agenda((atMs, { client, cost }) => window.add(atMs, client, cost, 1))
  }

  get most(): Most {
    return this.#window.most[this.#lane] as Most
  }

  count({ place, nowMs, client, cost, admitted, delayMs, resetMs }: Decided): void {
    this.keys.touch(client, nowMs, resetMs)
    const lane = admitted && this.#waiting === undefined ? this.#lane : undefined
    this.#demand.mark(place, client, cost, lane)
    if (!admitted || this.#waiting === undefined) return
    this.#waiting.runUntil(nowMs)
    if (delayMs === 0) this.#window.add(nowMs, client, cost, 1)
    else this.#waiting.add(nowMs + delayMs, { client, cost })
  }

  /** Releases all admitted requests that still wait. */
  finish(): void {
    this.#waiting?.runUntil(Infinity)
  }

  /** The most units that the client was admitted in a window. */
  peak(client: number): number {
    return this.#window.peak(client, this.#lane)
  }
}
