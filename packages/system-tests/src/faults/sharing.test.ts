// Faults in which several processes each take a share of the limits.

import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter, type Limiter } from '@sluice/core'
import { runInProcesses } from '@sluice/test-harness/processes'
import { type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { measuredCases, note } from './figures.ts'
import { LIMIT } from './load.ts'
import './warning-codes.ts'

const PROCESSES = 4
const SHARE = LIMIT / PROCESSES

let redis: RedisServer
const clients: Redis[] = []

beforeEach(async () => {
  redis = await startRedis()
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect()
  await redis.stop()
})

test('four processes without Redis, a quarter of the limit each, keep the limit', async () => {
  await redis.kill()
  const work = { url: redis.url, limit: LIMIT, times: 2 * LIMIT }
  const worker = join(__dirname, 'workers', 'sharing.ts')
  const admitted = await runInProcesses<number>(worker, PROCESSES, work)
  expect(admitted).toEqual(Array.from({ length: PROCESSES }, () => SHARE))
  note({ row: 27, fault: 'four processes without Redis, a quarter each', excess: 0, bound: 0 })
})

describe('an outage begins and ends within the window, a quarter of the limit each', () => {
  /** A limiter as one of the processes has it: with a connection, and so a view of the store, of its own. */
  async function startLimiter(): Promise<Limiter> {
    const client = new Redis(redis.url, {
      disconnectTimeout: 0,
      // What fails is not sent later, so that all of it is counted here.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 20,
      lazyConnect: true,
    })
    client.on('error', () => {})
    clients.push(client)
    await client.connect()
    const options = { limit: LIMIT, window: '1d', algorithm: 'sliding-log' } as const
    // A server that is gone says so at once: only a busy machine makes others late.
    return createLimiter({ ...options, store: client, localShare: 1 / PROCESSES, deadline: '10s' })
  }

  /** How many of as many requests as it takes are admitted, and who decides them all. */
  async function admitted(limiter: Limiter, requests: number, source: string): Promise<number> {
    let count = 0
    for (let i = 0; i < requests; i += 1) {
      const decision = await limiter.consume('client')
      expect([source, 'cache']).toContain(decision.source)
      if (decision.allowed) count += 1
    }
    return count
  }

  const decidedBy = (limiter: Limiter, source: string) =>
    until(async () => (await limiter.consume('another', { cost: 0 })).source === source, {
      what: `'${source}' decides`,
    })

  // What each of the processes has let through before; so many are then left to it alone.
  test.each([
    ...measuredCases(
      ['that is new: twice the limit', [0, 0, 0, 0]] as const,
      ['that has used half of it, of each process: half of it more', [5, 5, 5, 5]] as const,
      ['that has used all of it, of each process: nothing more', [10, 10, 10, 10]] as const,
    ),
    [
      'that has used all of it, by one process: the shares of the others more',
      [40, 0, 0, 0],
    ] as const,
  ])('by a client %s', async (_, before) => {
    const limiters = await Promise.all(before.map(startLimiter))
    const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0)
    for (const [i, limiter] of limiters.entries()) {
      expect(await admitted(limiter, before[i] as number, 'store')).toBe(before[i])
    }
    await redis.command('SAVE')
    await redis.kill()
    const alone: number[] = []
    for (const limiter of limiters) {
      await decidedBy(limiter, 'local')
      alone.push(await admitted(limiter, 2 * LIMIT, 'local'))
    }
    expect(alone).toEqual(before.map((count) => Math.max(0, SHARE - count)))
    await redis.restart({ keepData: true })
    const after: number[] = []
    for (const limiter of limiters) {
      await decidedBy(limiter, 'store')
      after.push(await admitted(limiter, 2 * LIMIT, 'store'))
    }
    // Redis knows nothing of what was admitted alone, except for what a probe has reported.
    const excess = sum(before) + sum(alone) + sum(after) - LIMIT
    expect(excess).toBeLessThanOrEqual(sum(alone))
    expect(excess).toBeGreaterThanOrEqual(sum(alone) - PROCESSES)
    if (sum(before) > 0) return
    const fault = 'an outage within the window, a quarter each'
    note({ row: 27, fault, excess, bound: LIMIT })
  })
})
