import type { Activity, BudgetCall } from './call.ts'
import type { Usage } from './options.ts'

/** Reserves the most that a call may cost. */
export type Open = (estimate: Usage, activity: Activity) => Promise<BudgetCall>

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
   * The answer as it was sent, which settles its call when it has ended. Without usage, or if its reader leaves, the
   * estimate stays charged.
   * @param each returns the bytes of a part that are passed on; undefined: none
   * @param used the usage of the whole answer
   */
  of<T, U>(
    call: BudgetCall,
    parts: ReadableStream<T>,
    each: (part: T) => U | undefined,
    used: () => Usage | undefined,
  ): ReadableStream<U> {
    const reader = parts.getReader()
    const next = async (): Promise<U | undefined> => {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return undefined
        const passed = each(value)
        if (passed !== undefined) return passed
      }
    }
    const pull = async (to: ReadableStreamDefaultController<U>) => {
      this.#waitsSince = undefined
      try {
        const passed = await next()
        this.#waitsSince = performance.now()
        if (passed !== undefined) return to.enqueue(passed)
        const usage = used()
        if (usage !== undefined) await call.settle(usage)
        await call.release()
        to.close()
      } catch (error) {
        await call.release()
        throw error
      }
    }
    // A reader that leaves is charged the estimate, also before the first part, and while the model is silent.
    const cancel = async (reason: unknown) => {
      await Promise.all([call.release(), reader.cancel(reason)])
    }
    this.#waitsSince = performance.now()
    return new ReadableStream<U>({ pull, cancel }, { highWaterMark: 0 })
  }
}
