import type { Connections } from './connections.ts'
import { type Statements, SWEPT_AT_ONCE } from './statements.ts'

/** From a write until rows are swept, ms, on average: rows expire at full minutes. */
const PAUSE_MS = 60_000
/** Between two sweeps, ms, while there is more to delete. */
const MORE_MS = 20
/** The longest that a sweep may take, ms. */
const SWEEP_MS = 2000

/** Deletes expired rows, some at a time, as long as this process writes. */
export class Sweeper {
  private readonly connections: Connections
  private readonly statements: Statements
  private readonly clock: (() => number) | undefined
  private timer: NodeJS.Timeout | undefined
  private isClosed = false

  constructor(connections: Connections, statements: Statements, clock?: () => number) {
    this.connections = connections
    this.statements = statements
    this.clock = clock
  }

  /** Rows were written, which will expire. */
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
    this.timer = setTimeout(() => {
      this.sweep().then((swept) => {
        this.timer = undefined
        if (swept === SWEPT_AT_ONCE) this.sweepAfter(MORE_MS)
      })
    }, ms).unref()
  }

  /** How many rows it has deleted: 0 if it failed. */
  private async sweep(): Promise<number> {
    const sent = this.statements.sweep(this.clock?.(), SWEEP_MS)
    try {
      const results = await this.connections.use(SWEEP_MS, (query) => query(sent))
      return results.at(-2)?.rowCount ?? 0
    } catch {
      return 0
    }
  }
}
