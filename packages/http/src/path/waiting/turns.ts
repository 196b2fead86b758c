import { Places, type Timer } from '@sluice/core/internal'

/** Timers fire immediately if they are set to more, ms. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** The turns that the requests of a limiter wait for: as many as may wait at the same time. */
export class Turns extends Places {
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
}
