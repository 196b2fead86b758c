import { Heap } from 'heap-js'
import type { TrueWindow } from './true-window.ts'

interface Departure {
  readonly atMs: number
  readonly client: number
  readonly cost: number
}

/**
 * Requests that a leaky bucket has admitted and that wait for their turn: they count when they go
 * on, because that is what reaches the application.
 */
export class Departures {
  readonly #window: TrueWindow
  readonly #waiting = new Heap<Departure>((one, other) => one.atMs - other.atMs)

  /** @param window counts them, in its only lane */
  constructor(window: TrueWindow) {
    this.#window = window
  }

  add(nowMs: number, delayMs: number, client: number, cost: number): void {
    this.leaveUntil(nowMs)
    if (delayMs === 0) this.#window.add(nowMs, client, cost, 1)
    else this.#waiting.push({ atMs: nowMs + delayMs, client, cost })
  }

  /** Lets those go on whose turn comes up to then. */
  leaveUntil(timeMs: number): void {
    for (;;) {
      const first = this.#waiting.peek()
      if (first === undefined || first.atMs > timeMs) return
      this.#waiting.pop()
      this.#window.add(first.atMs, first.client, first.cost, 1)
    }
  }
}
