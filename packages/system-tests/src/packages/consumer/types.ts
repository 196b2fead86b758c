// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import { createLimiter, type Duration, memoryStore } from '@sluice/core'
import * as testing from '@sluice/core/testing'
import byDefault, { type RateLimitOptions, rateLimit } from '@sluice/express'
import shedLoad from '@sluice/express/overload'
import type { RateLimitConfig } from '@sluice/http'
import express from 'express'

export async function decide(key: string): Promise<boolean> {
  const limiter = createLimiter({ limit: 2, window: '1m', store: memoryStore() })
  const decision = await limiter.consume(key)
  return decision.allowed
}

// @ts-expect-error A limit in quotes is an error: the types are not any.
createLimiter({ limit: '2', window: '1m' })

// Texts that no option can have are errors where they are written.
// @ts-expect-error A misspelt unit.
rateLimit({ limit: 2, window: '1 mnute' })
// @ts-expect-error An algorithm of another library.
rateLimit({ limit: 2, window: '1m', algorithm: 'tokenBucket' })
// @ts-expect-error The default has no name.
rateLimit({ limit: 2, window: '1m', headers: true })
// @ts-expect-error A body is written by a function.
rateLimit({ limit: 2, window: '1m', respond: 'Too many requests' })
// @ts-expect-error A route has options, or false.
rateLimit({ limit: 2, window: '1m', routes: { '/health': true } })

export const windows: Duration[] = [1000, '1m', '15 minutes', '1.5h', '2 days', '500ms', '1 year']
createLimiter({ limit: 2, window: 'month' })

// Texts of a configuration are any string, and checked when the limiter is created.
const configuration = {
  policies: [
    { name: 'burst', limit: 10, window: '1s', algorithm: 'token-bucket', burst: 20 },
    { name: 'daily', limit: Number(process.env.DAILY), window: process.env.WINDOW, key: 'ip' },
  ],
  headers: ['draft-11', 'legacy'],
  routes: { '/health': false, 'POST /login': { limit: 5, window: '15m' } },
}
export const configured: unknown[] = [
  rateLimit(configuration as RateLimitConfig),
  rateLimit({ ...(configuration as RateLimitConfig), store: memoryStore(), key: ({ url }) => url }),
  rateLimit(JSON.parse('{ "limit": 1, "window": "1m" }') as RateLimitConfig),
  createLimiter({ limit: 2, window: String(process.env.WINDOW) } as RateLimitConfig),
]
// @ts-expect-error Without this type, they are any string.
rateLimit(configuration)
// @ts-expect-error A limit is a number in any case.
createLimiter({ limit: String(process.env.LIMIT), window: '1m' } as RateLimitConfig)

const options = {
  policies: [
    { name: 'burst', limit: 10, window: '1s', algorithm: 'token-bucket', burst: 20 },
    { name: 'daily', limit: 1000, window: '1d', key: 'ip' },
  ],
  headers: ['draft-11', 'legacy'],
  routes: { '/health': false },
  store: undefined,
} as const

export const wrapped = (some: Partial<RateLimitOptions>) =>
  rateLimit({ limit: 15, window: '5m', ...some })

export const app: express.Express = express().use(rateLimit(options))
export const names: string[] = Object.keys(testing)

export const defaults: readonly [typeof rateLimit, ReturnType<typeof shedLoad>] = [
  byDefault,
  shedLoad(),
]
// @ts-expect-error The default is not any either.
byDefault({ limit: '2', window: '1m' })
