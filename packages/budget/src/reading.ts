import type { Activity, BudgetCall } from './call.ts'
import type { Usage } from './options.ts'

/** Reserves the most that a call may cost. */
export type Open = (estimate: Usage, activity: Activity) => Promise<BudgetCall>

/**
 * How long an answer has waited for its reader. While the model works, it waits for nobody. A call whose answer nobody
 * reads is charged its estimate.
 */
export class Reading implements Activity {
  private waitsSince: number | undefined

  quietMs(): number {
    return this.waitsSince === undefined ? 0 : performance.now() - this.waitsSince
  }

  /**
   * The answer as it was sent, which settles its call when it has ended. Without usage, or if its reader leaves, the
   * estimate stays charged.
   * @param each returns the bytes of a part that are passed on; undefined: none
   * @param used the usage of the whole answer
   */
  of<T, U>(
    call: BudgetCall,
    parts: AsyncIterable<T>,
    each: (part: T) => U | undefined,
    used: () => Usage | undefined,
  ): ReadableStream<U> {
    this.waitsSince = performance.now()
    return ReadableStream.from(this.pass(call, parts, each, used)) as ReadableStream<U>
  }

  private async *pass<T, U>(
    call: BudgetCall,
    parts: AsyncIterable<T>,
    each: (part: T) => U | undefined,
    used: () => Usage | undefined,
  ): AsyncGenerator<U> {
    try {
      this.waitsSince = undefined
      for await (const part of parts) {
        const passed = each(part)
        if (passed === undefined) continue
        this.waitsSince = performance.now()
        yield passed
        this.waitsSince = undefined
      }
      const usage = used()
      if (usage !== undefined) await call.settle(usage)
    } finally {
      await call.release()
    }
  }
}
