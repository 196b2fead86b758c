// A limit that is raised and lowered in any order, while clients charge, settle, hold and give back.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Acquisition, createLimiter, memoryStore, redisStore, type Store } from '@sluice/core'
import { ALGORITHM_NAMES } from '@sluice/core/algorithms'
import { manualClock } from '@sluice/core/testing'
import { mysqlStore } from '@sluice/mysql'
import { postgresStore } from '@sluice/postgres'
import { describeUnless, isAll } from '@sluice/test-harness/jest'
import { type MysqlServer, startMysql, whyNoMysql } from '@sluice/test-harness/mysql'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { createPool, type Pool as MysqlPool } from 'mysql2/promise'
import { Pool } from 'pg'

const RESERVING = ['fixed-window', 'sliding-window', 'token-bucket']
/** The least and the most units of a limit. */
const [MIN, MAX] = [1, 9]

type Step =
  | { readonly kind: 'limit'; readonly limit: number }
  | { readonly kind: 'charge'; readonly cost: number }
  | { readonly kind: 'settle'; readonly delta: number }
  | { readonly kind: 'give back'; readonly which: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('limit' as const), limit: fc.integer({ min: MIN, max: MAX }) }),
  fc.record({ kind: fc.constant('charge' as const), cost: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('settle' as const), delta: fc.integer({ min: -3, max: 3 }) }),
  fc.record({ kind: fc.constant('give back' as const), which: fc.nat(5) }),
)
const steps = fc.array(step, { minLength: 5, maxLength: isAll ? 60 : 25 })

interface Subject {
  readonly name: string
  readonly options: object
  /** Whether what is charged is held, and given back. */
  readonly holds: boolean
}

const subjects: Subject[] = [
  ...ALGORITHM_NAMES.map((algorithm) => ({
    name: algorithm,
    options: { limit: 5, window: '365d', algorithm },
    holds: false,
  })),
  ...RESERVING.map((algorithm) => ({
    name: `${algorithm} with reservations`,
    options: { limit: 5, window: '365d', algorithm, reserve: true, hold: '1h' },
    holds: true,
  })),
  { name: 'slots', options: { concurrent: 5, hold: '1h' }, holds: true },
]

let prefixes = 0

/** Plays the steps at one moment, in which no limit gives anything back by itself. */
async function play({ options, holds }: Subject, store: Store, all: readonly Step[]) {
  prefixes += 1
  const isSlots = 'concurrent' in options
  const limiter = createLimiter({
    ...patient,
    ...options,
    store,
    name: 'api',
    prefix: `p${prefixes}`,
    live: true,
  } as never) as unknown as ReturnType<typeof createLimiter>
  const held: { release(): unknown; cost: number }[] = []
  let limit = 5
  let used = 0
  for (const each of all) {
    if (each.kind === 'limit') {
      limit = each.limit
      await limiter.policies.set('api', isSlots ? { concurrent: limit } : { limit })
    } else if (each.kind === 'charge') {
      const cost = isSlots ? 1 : each.cost
      const decision = holds
        ? await limiter.acquire('ada', isSlots ? {} : { cost })
        : await limiter.consume('ada', { cost })
      expect(decision.limit).toBe(limit)
      if (!decision.allowed) continue
      used += cost
      // What is admitted was there, by the limit in force.
      expect({ used, limit }).toEqual({ used: Math.min(used, limit), limit })
      expect(decision.remaining).toBeLessThanOrEqual(limit - used)
      if (holds) held.push({ release: () => (decision as Acquisition).release(), cost })
    } else if (each.kind === 'settle' && !holds) {
      const delta = Math.max(-used, each.delta)
      await limiter.settle('ada', delta)
      used += delta
    } else if (each.kind === 'give back' && isSlots) {
      const [given] = held.splice(each.which, 1)
      await given?.release()
      used -= given?.cost ?? 0
    }
  }
  limiter.close()
}

function suite(open: () => Store, runs: number): void {
  test.each(subjects)('$name: nothing beyond the limit in force', async (subject) => {
    const store = open()
    await fc.assert(
      fc.asyncProperty(steps, (all) => play(subject, store, all)),
      { numRuns: isAll ? 3 * runs : runs },
    )
  })
}

describe('in memory', () => {
  suite(() => memoryStore({ clock: manualClock() }), 50)
})

describe('on Redis', () => {
  let redis: RedisServer
  let client: Redis
  beforeAll(async () => {
    redis = await startRedis()
    client = new Redis(redis.url)
  })
  afterAll(async () => {
    client.disconnect()
    await redis.stop()
  })
  suite(() => redisStore(client, { clock: manualClock() }), 8)
})

describeUnless(whyNoPostgres(), 'on PostgreSQL', () => {
  let server: PostgresServer
  let pool: Pool
  beforeAll(async () => {
    server = await startPostgres()
    pool = new Pool({ connectionString: server.url })
    await postgresStore(pool).migrate()
  })
  afterAll(async () => {
    await pool.end()
    await server.stop()
  })
  suite(() => postgresStore(pool), 4)
})

describeUnless(whyNoMysql(), 'on MySQL', () => {
  let server: MysqlServer
  let pool: MysqlPool
  beforeAll(async () => {
    server = await startMysql()
    pool = createPool(server.url)
    await mysqlStore(pool).migrate()
  })
  afterAll(async () => {
    await pool.end()
    await server.stop()
  })
  suite(() => mysqlStore(pool), 4)
})
