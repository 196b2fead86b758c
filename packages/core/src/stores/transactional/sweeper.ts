import { unref } from '#platform'
import type { Timer } from '../../platform/platform.ts'

/** From a write until states are swept, ms, on average. */
const PAUSE_MS = 60_000
/** Between two sweeps, ms, while there is more to delete. */
const MORE_MS = 20

/** Deletes expired states from a backend that keeps them, as long as this process writes. */
export class Sweeper {
  private readonly sweep: () => Promise<boolean>
  private timer: Timer | undefined
  private isClosed = false

  /**
   * @param sweep deletes some states whose time is over, in little time; resolves with whether there
   *   may be more. A rejection is ignored: the next write is followed by another try
   */
  constructor(sweep: () => Promise<boolean>) {
    this.sweep = sweep
  }

  /** States were written, which will expire. */
  wake(): void {
    // Not all processes at the same time.
    if (this.timer === undefined) this.sweepAfter(PAUSE_MS * (0.5 + Math.random()))
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
  }

  private sweepAfter(ms: number): void {
    if (this.isClosed) return
    const swept = (isMore: boolean) => {
      this.timer = undefined
      if (isMore) this.sweepAfter(MORE_MS)
    }
    const sweep = () => this.sweep().then(swept, () => swept(false))
    this.timer = unref(setTimeout(sweep, ms))
  }
}
