import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import { type Decide, LIMIT, WINDOW_MS } from './terms.ts'

/** The terms of rate-limiter-flexible. */
export const FLEXIBLE = { points: LIMIT, duration: WINDOW_MS / 1000 }

export function decideBy(limiter: RateLimiterAbstract): Decide {
  return async (key) => (await limiter.consume(key)).remainingPoints
}

/** Makes a limiter of rate-limiter-flexible with a table of its own. @returns when that is there */
export function withTable(
  make: (
    terms: typeof FLEXIBLE & { tableName: string },
    ready: (error?: Error) => void,
  ) => RateLimiterAbstract,
): Promise<Decide> {
  return new Promise((resolve, reject) => {
    const limiter = make({ ...FLEXIBLE, tableName: 'flexible' }, (error) => {
      if (error) reject(error)
      else resolve(decideBy(limiter))
    })
  })
}
