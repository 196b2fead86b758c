import type { PolicyOptions } from '@sluice/core'

/** The key of which everything still counts when a store is back, at any time of the day. */
export const LONGEST = 'long window'

/** The keys that are asked for, each with a limiter of its own: their policies. Some of what is asked is refused, also where a store is slow. */
export const KEYS: { readonly [key: string]: readonly PolicyOptions[] } = {
  'fixed window': [{ algorithm: 'fixed-window', limit: 12, window: '200ms' }],
  'sliding window': [{ algorithm: 'sliding-window', limit: 12, window: '200ms' }],
  'sliding log': [{ algorithm: 'sliding-log', limit: 12, window: '200ms' }],
  'token bucket': [{ algorithm: 'token-bucket', limit: 12, window: '200ms', burst: 6 }],
  'leaky bucket': [{ algorithm: 'leaky-bucket', limit: 12, window: '200ms', maxDelay: '100ms' }],
  [LONGEST]: [{ algorithm: 'token-bucket', limit: 1000, window: '1d', burst: 1_000_000 }],
  'two policies': [
    { name: 'log', algorithm: 'sliding-log', limit: 18, window: '300ms' },
    { name: 'bucket', algorithm: 'token-bucket', limit: 12, window: '200ms' },
  ],
}

/** The keys in a store of each limiter begin with this. */
export function prefixOf(key: string): string {
  return `histories-${key.replaceAll(' ', '-')}`
}
