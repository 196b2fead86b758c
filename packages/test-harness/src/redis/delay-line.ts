/** Bytes that are due sooner than this, in milliseconds, are passed on now: no timer is finer. */
const TIMER_SLACK_MS = 0.5

/**
 * Runs tasks after a delay each, accurate to about a millisecond while the event loop is free.
 * Order is kept: a task waits for the ones before it. Holds no process open.
 */
export class DelayLine {
  readonly #waiting: { readonly task: () => void; readonly due: number }[] = []
  #timer: NodeJS.Timeout | undefined

  push(task: () => void, delayMs: number): void {
    this.#waiting.push({ task, due: performance.now() + delayMs })
    if (this.#waiting.length === 1) this.#run()
  }

  /** Drops what still waits. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#waiting.length = 0
  }

  #run(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const left = next.due - performance.now()
      if (left >= TIMER_SLACK_MS) {
        this.#timer = setTimeout(() => this.#run(), Math.round(left)).unref()
        return
      }
      this.#waiting.shift()
      next.task()
    }
  }
}
