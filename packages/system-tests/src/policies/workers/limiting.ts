// A process with a live policy: it takes all that a client gets, as often as its parent says.

import { subscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import { createLimiter, type Limiter } from '@sluice/core'
import { postgresStore } from '@sluice/postgres'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import type { Report, Terms } from '../limiting-process.ts'

const { url, deadline, max, limit } = JSON.parse(process.argv[2] as string) as Terms

function clientOf(): Redis {
  const client = new Redis(url, { retryStrategy: () => 20 })
  client.on('error', () => {})
  return client
}

function poolOf(): Pool {
  const pool = new Pool({ connectionString: url })
  pool.on('error', () => {})
  return pool
}

subscribe('sluice:policy', (event) => {
  process.send?.({ limit: (event as { limit: number }).limit })
})
process.on('warning', (warning) => {
  process.send?.({ warning: (warning as { code?: string }).code })
})
process.once('disconnect', () => process.exit())

// How long the event loop of this process stood still: no deadline can be kept meanwhile.
let stalledMs = 0
let before = performance.now()
const looks = new EventEmitter()
setInterval(() => {
  const now = performance.now()
  stalledMs = Math.max(stalledMs, now - before - 10)
  before = now
  looks.emit('look')
}, 10)

const limiter = createLimiter({
  store: url.startsWith('redis') ? clientOf() : postgresStore(poolOf()),
  name: 'api',
  limit,
  window: '365d',
  algorithm: 'fixed-window',
  deadline,
  live: { limit: { max } },
}) as Limiter<'async'>

/** Takes all that the client gets. */
async function exhaust(key: string): Promise<Report> {
  const limits = new Set<number>()
  const sources = new Set<string>()
  let admitted = 0
  let slowestMs = 0
  for (;;) {
    const started = performance.now()
    const decision = await limiter.consume(key)
    slowestMs = Math.max(slowestMs, performance.now() - started)
    limits.add(decision.limit)
    sources.add(decision.source)
    if (decision.allowed) admitted += 1
    else break
  }
  // The last decision may have come out of a stall that has not been seen yet.
  await once(looks, 'look')
  return { admitted, slowestMs, stalledMs, limits: [...limits], sources: [...sources] }
}

process.on('message', async (key: string) => {
  process.send?.({ report: await exhaust(key) })
})
await limiter.peek('nobody')
process.send?.({ ready: true })
