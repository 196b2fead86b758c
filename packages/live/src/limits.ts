import type { RateLimitOptions } from '@sluice/express'

/** Requests that each limiter admits per window. */
export const LIMIT = 10
export const WINDOW_MS = 10_000

/** What the token bucket holds when it is full. */
export const BURST = 5
/** The longest that the leaky bucket lets an admitted request wait, ms. */
export const MAX_DELAY_MS = 3000

const terms = { limit: LIMIT, window: WINDOW_MS }

/** The five limiters: the same limit and window for all. The server and the page share them. */
export const limits = {
  'fixed-window': { ...terms, algorithm: 'fixed-window' },
  'sliding-window': { ...terms, algorithm: 'sliding-window' },
  'sliding-log': { ...terms, algorithm: 'sliding-log' },
  'token-bucket': { ...terms, algorithm: 'token-bucket', burst: BURST },
  'leaky-bucket': { ...terms, algorithm: 'leaky-bucket', maxDelay: MAX_DELAY_MS },
} as const satisfies Record<string, RateLimitOptions>

export type Algorithm = keyof typeof limits
export const algorithms = Object.keys(limits) as Algorithm[]
