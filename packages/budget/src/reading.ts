import type { Activity, BudgetCall } from './call.ts'
import type { Usage } from './options.ts'
import type { Used } from './usage.ts'

/** Reserves the most that a call may cost, by any of its models. */
export type Open = (estimates: readonly Usage[], activity: Activity) => Promise<BudgetCall>

/**
 * How long an answer has waited for its reader. While the model works, it waits for nobody. A call whose answer nobody
 * reads is charged its estimate.
 */
export class Reading implements Activity {
  #waitsSince: number | undefined

  quietMs(): number {
    return this.#waitsSince === undefined ? 0 : performance.now() - this.#waitsSince
  }

  /**
   * The answer as it is sent, which settles its call when it ends, whoever ends it. Unless it has said all of its
   * use by then, the estimate stays charged.
   * @param note reads a part
   */
  of<T>(call: BudgetCall, parts: ReadableStream<T>, used: Used, note?: (part: T) => void) {
    const reader = parts.getReader()
    const end = async () => {
      if (used.isWhole && used.usage !== undefined) await call.settle(used.usage)
      await call.release(used.usage)
    }
    const pull = async (to: ReadableStreamDefaultController<T>) => {
      this.#waitsSince = undefined
      try {
        const { done, value } = await reader.read()
        this.#waitsSince = performance.now()
        if (!done) {
          note?.(value)
          return to.enqueue(value)
        }
        await end()
        to.close()
      } catch (error) {
        await end()
        throw error
      }
    }
    // Also before the first part, and while the model is silent.
    const cancel = async (reason: unknown) => {
      await Promise.all([end(), reader.cancel(reason)])
    }
    this.#waitsSince = performance.now()
    return new ReadableStream<T>({ pull, cancel }, { highWaterMark: 0 })
  }
}
