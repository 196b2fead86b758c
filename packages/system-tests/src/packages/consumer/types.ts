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

export const app: express.Express = express().use(rateLimit({ limit: 2, window: '1m' }))
export const names: string[] = Object.keys(testing)
