import type { Timer } from '@sluice/core/internal'

/** Timers fire immediately if they are set to more, ms. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * The turns that the requests of a limiter wait for: as many as may wait at the same time. One client can't
 * take them all: a key gets another turn only while it has fewer than are free, so alone it has half of
 * them, rounded up, and together with others less.
 */
export class Turns {
  readonly #most: number
  #taken = 0
  /** Turns that each key has taken. */
  readonly #takenBy = new Map<string, number>()

  /** @param most how many there are */
  constructor(most: number) {
    this.#most = most
  }

  /** @returns false if none is free for the key. Otherwise `delay`, which frees it, or `free` must follow */
  acquire(key: string): boolean {
    const own = this.#takenBy.get(key) ?? 0
    if (own >= this.#most - this.#taken) return false
    this.#taken += 1
    this.#takenBy.set(key, own + 1)
    return true
  }

  /**
   * Waits `ms` for a turn that the key has taken, unless the client goes away before. The process
   * stays alive meanwhile.
   * @param whenClosed calls back when the client has gone, immediately if it has; returns a function that cancels it
   * @returns whether the request goes on
   */
  delay(
    key: string,
    ms: number,
    whenClosed: (callback: () => void) => () => void,
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const until = performance.now() + ms
      let timer: Timer | undefined
      let closed = false
      const end = (goesOn: boolean) => {
        this.free(key)
        clearTimeout(timer)
        resolve(goesOn)
      }
      const unwatch = whenClosed(() => {
        closed = true
        end(false)
      })
      const wait = () => {
        const remainingMs = until - performance.now()
        if (remainingMs > 0) {
          timer = setTimeout(wait, Math.min(Math.ceil(remainingMs), MAX_TIMER_MS))
          return
        }
        unwatch()
        end(true)
      }
      if (!closed) wait()
    })
  }

  /** Gives back a turn that the key has taken. */
  free(key: string): void {
    this.#taken -= 1
    const own = (this.#takenBy.get(key) as number) - 1
    if (own === 0) this.#takenBy.delete(key)
    else this.#takenBy.set(key, own)
  }
}
