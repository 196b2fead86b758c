import { setTimeout as delay } from 'node:timers/promises'
import { patient } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type LimiterOptions } from '../../../index.ts'

export interface SpendingWork {
  url: string
  options: Pick<LimiterOptions, 'limit' | 'window' | 'algorithm'>
  /** ms */
  lease: number
}

const { url, options, lease } = JSON.parse(process.argv[2] as string) as SpendingWork
const client = new Redis(url)
const limiter = createLimiter({ ...patient, ...options, lease, store: client })
// The test is gone.
process.once('disconnect', () => process.exit())

// Says how many requests of each turn were admitted, until nothing has been left for some time.
let isLeft = true
let refusedAt = Infinity
while (isLeft) {
  const decisions = await Promise.all(Array.from({ length: 5 }, () => limiter.consume('client')))
  process.send?.(decisions.filter(({ allowed }) => allowed).length)
  if (decisions.every(({ allowed }) => allowed)) refusedAt = Infinity
  else if (refusedAt === Infinity) refusedAt = performance.now()
  isLeft = performance.now() - refusedAt < 4 * lease
  await delay(1)
}
process.exit()
