import * as runner from '@jest/globals'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { describeUnless } from '@sluice/test-harness/jest'
import {
  type PgBouncer,
  type PostgresServer,
  startPgBouncer,
  startPostgres,
  whyNoPgBouncer,
  whyNoPostgres,
} from '@sluice/test-harness/postgres'
import { runInProcesses } from '@sluice/test-harness/processes'
import { storeSuite } from '@sluice/test-suites'
import { Pool } from 'pg'
import { paritySuite } from '../../core/src/algorithms/testing/parity-suite.ts'
import { traceSuite } from '../../core/src/algorithms/testing/store-replay.ts'
import { postgresStore } from './index.ts'

const worker = new URL(`file://${__dirname}/testing/workers/consuming.ts`)

describeUnless(whyNoPostgres(), 'PostgreSQL', () => {
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

  const create = (clock: () => number) => postgresStore(pool, { clock })

  storeSuite(runner, 'the PostgreSQL store', { mode: 'async', inspects: true, create })

  describe('decides as memory does', () => {
    paritySuite('PostgreSQL', create, 0.1)
    traceSuite('PostgreSQL', create, {
      alone: { before: 0, after: 0 },
      'batch of several policies': { before: 2, after: 0, beside: (cost) => cost + 1 },
    })
  })

  describeUnless(whyNoPgBouncer(), 'PgBouncer in transaction mode', () => {
    let bouncer: PgBouncer
    let bounced: Pool
    beforeAll(async () => {
      bouncer = await startPgBouncer(server)
      bounced = new Pool({ connectionString: bouncer.url })
    })
    afterAll(async () => {
      await bounced.end()
      await bouncer.stop()
    })

    storeSuite(runner, 'the PostgreSQL store', {
      mode: 'async',
      create: (clock) => postgresStore(bounced, { clock }),
    })

    test('two processes that ask for 300 get 100', async () => {
      const work = { url: bouncer.url, times: 150, keys: ['a'] }
      const counts = await runInProcesses<{ a: number }>(worker, 2, work)
      expect(counts.reduce((sum, { a }) => sum + a, 0)).toBe(100)
    })
  })
})
