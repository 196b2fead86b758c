import { type Timer, unref } from '@sluice/core/internal-stores'

/** The time from a write until states are swept, ms, on average. */
const PAUSE_MS = 60_000
/** The pause between two sweeps while there is more to delete, ms. */
const MORE_MS = 20
/** The most states that a sweep deletes. */
const SWEPT_AT_ONCE = 1000
/** Expiries are rounded up to so many ms: an index of them changes, and so costs, only once in that time. */
const EXPIRY_GRID_MS = 60_000

/** When a state that is written now may be deleted, ms. */
export function expiryOf(now: number, ttlMs: number): number {
  return Math.ceil((now + ttlMs) / EXPIRY_GRID_MS) * EXPIRY_GRID_MS
}

/** Deletes expired states from a backend that keeps them, as long as this process writes. */
export class Sweeper {
  readonly #sweep: (count: number) => Promise<number>
  #timer: Timer | undefined
  #isClosed = false

  /**
   * @param sweep deletes so many states whose time is over, or fewer if there are no more; resolves with
   *   how many. A rejection is ignored: the next write is followed by another try
   */
  constructor(sweep: (count: number) => Promise<number>) {
    this.#sweep = sweep
  }

  /** States were written, which will expire. */
  wake(): void {
    // Not all processes at the same time.
    if (this.#timer === undefined) this.#sweepAfter(PAUSE_MS * (0.5 + Math.random()))
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #sweepAfter(ms: number): void {
    if (this.#isClosed) return
    const swept = (count: number) => {
      this.#timer = undefined
      if (count === SWEPT_AT_ONCE) this.#sweepAfter(MORE_MS)
    }
    const sweep = () => this.#sweep(SWEPT_AT_ONCE).then(swept, () => swept(0))
    this.#timer = unref(setTimeout(sweep, ms))
  }
}
