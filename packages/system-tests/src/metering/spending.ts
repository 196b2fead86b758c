// A process that charges as fast as it can, and meters it: see metering.test.ts.

import { createLimiter } from '@sluice/core'
import { meter } from '@sluice/meter'
import { Redis } from 'ioredis'

const [url, receiver, key] = process.argv.slice(2) as [string, string, string]

const client = new Redis(url)
const limiter = createLimiter({
  store: client,
  limit: 1_000_000_000,
  window: 'month',
  prefix: 'sold',
})
meter(limiter, {
  every: '200ms',
  async send(batch) {
    const response = await fetch(receiver, { method: 'POST', body: JSON.stringify(batch) })
    if (!response.ok) throw new Error(`status ${response.status}`)
  },
})
process.once('disconnect', () => process.exit())
for (;;) await Promise.all(Array.from({ length: 10 }, () => limiter.consume(key, { cost: 3 })))
