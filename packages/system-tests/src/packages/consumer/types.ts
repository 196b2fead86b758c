// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import { createLimiter, memoryStore } from '@sluice/core'
import * as testing from '@sluice/core/testing'
import { rateLimit } from '@sluice/express'
import express from 'express'

export async function decide(key: string): Promise<boolean> {
  const limiter = createLimiter({ limit: 2, window: '1m', store: memoryStore() })
  const decision = await limiter.consume(key)
  return decision.allowed
}

// @ts-expect-error A limit in quotes is an error: the types are not any.
createLimiter({ limit: '2', window: '1m' })

// In a variable, the types are wider than what is written.
const options = {
  policies: [
    { name: 'burst', limit: 10, window: '1s', algorithm: 'token-bucket', burst: 20 },
    { name: 'daily', limit: 1000, window: '1d', key: 'ip' },
  ],
  headers: ['draft-11', 'legacy'],
  routes: { '/health': false },
  store: undefined,
}

export const app: express.Express = express().use(rateLimit(options))
export const names: string[] = Object.keys(testing)
