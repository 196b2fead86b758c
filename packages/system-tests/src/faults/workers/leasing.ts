// A process that asks for one key, so many times a second, and says what it was admitted and when.

import { createLimiter, type LimiterOptions } from '@sluice/core'
import { patient } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'

export interface LeasingWork {
  url: string
  options: Pick<LimiterOptions, 'limit' | 'window' | 'algorithm' | 'prefix' | 'lease'>
  /** Requests in a second. */
  rate: number
}

/** How many requests were admitted at a time, ms since the epoch. */
export type Uses = readonly (readonly [at: number, admitted: number])[]

const { url, options, rate } = JSON.parse(process.argv[2] as string) as LeasingWork
const client = new Redis(url)
client.on('error', () => {})
// The test is gone.
process.once('disconnect', () => process.exit())
const limiter = createLimiter({ ...patient, ...options, store: client })
let uses = new Map<number, number>()

async function ask(): Promise<void> {
  // A lease is used at once; what the store admits is used when it decides.
  const now = Date.now()
  const { allowed, source, at } = await limiter.consume('client')
  const usedAt = source === 'lease' ? now : at
  if (allowed) uses.set(usedAt, (uses.get(usedAt) ?? 0) + 1)
}

const begunAt = performance.now()
let sent = 0
setInterval(() => {
  const due = Math.floor(((performance.now() - begunAt) * rate) / 1000)
  for (; sent < due; sent += 1) void ask()
  if (uses.size > 0) process.send?.([...uses] satisfies Uses)
  uses = new Map()
}, 1)
