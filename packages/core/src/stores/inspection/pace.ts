import { sleep } from '#platform'

/** The longest pause after a step, ms. */
const MAX_PAUSE_MS = 100

/**
 * Keeps a server free for half of the time: after each step the reader waits for as long as the server has
 * worked on it. What the reader does by itself meanwhile is such a time already.
 */
export class Pace {
  #workedMs = 0
  #freeMs = 0
  #isWorking = true
  #since = performance.now()

  /** The server has answered. */
  pause(): void {
    this.#count()
    this.#isWorking = false
  }

  /** The server works again. */
  resume(): void {
    this.#count()
    this.#isWorking = true
  }

  /** Waits for what it has not been free yet. */
  async rest(): Promise<void> {
    this.pause()
    const ms = Math.min(this.#workedMs - this.#freeMs, MAX_PAUSE_MS)
    // A timer takes a ms at least.
    if (ms >= 1) await sleep(ms)
  }

  #count(): void {
    const now = performance.now()
    if (this.#isWorking) this.#workedMs += now - this.#since
    else this.#freeMs += now - this.#since
    this.#since = now
  }
}
