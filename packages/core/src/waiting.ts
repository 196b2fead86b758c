import type { ServerResponse } from 'node:http'
import { hasGone, whenClosed } from './when-closed.ts'

/** Timers of Node fire at once beyond this, ms. */
const MAX_TIMER_MS = 2 ** 31 - 1

let waiting = 0

/**
 * Takes a place among the requests that wait for their turn in this process.
 * @returns false if `most` are waiting. Otherwise `hold` must follow, which gives it back
 */
export function takePlace(most: number): boolean {
  if (waiting >= most) return false
  waiting += 1
  return true
}

/**
 * Waits `ms` on the place taken, unless the client goes away before.
 * @returns whether the request goes on
 */
export function hold(ms: number, response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const until = performance.now() + ms
    let timer: NodeJS.Timeout | undefined
    const end = (goesOn: boolean) => {
      waiting -= 1
      clearTimeout(timer)
      resolve(goesOn)
    }
    const unwatch = whenClosed(response, () => end(false))
    const wait = () => {
      const left = until - performance.now()
      if (left > 0) {
        timer = setTimeout(wait, Math.min(Math.ceil(left), MAX_TIMER_MS)).unref()
        return
      }
      unwatch()
      end(true)
    }
    if (!hasGone(response)) wait()
  })
}
