import * as runner from '@jest/globals'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLimiter, type Store } from '@sluice/core'
import { describeUnless, runnerOfOneAlgorithm } from '@sluice/test-harness/jest'
import {
  type PgBouncer,
  type PostgresServer,
  startPgBouncer,
  startPostgres,
  whyNoPgBouncer,
  whyNoPostgres,
} from '@sluice/test-harness/postgres'
import { runInProcesses } from '@sluice/test-harness/processes'
import { patient } from '@sluice/test-harness/redis'
import { storeSuite } from '@sluice/test-suites'
import { Pool } from 'pg'
import postgres from 'postgres'
import {
  crowdedSharingSuite,
  crowdedSuite,
} from '../../core/src/algorithms/testing/crowded-parity.ts'
import { paritySuite } from '../../core/src/algorithms/testing/parity-suite.ts'
import { traceSuite } from '../../core/src/algorithms/testing/store-replay.ts'
import { postgresStore } from './index.ts'
import { Statements } from './statements.ts'

const worker = new URL(`file://${__dirname}/testing/workers/consuming.ts`)

/** What the requests of the traces come beside. */
const BESIDE: Parameters<typeof traceSuite>[2] = {
  alone: { before: 0, after: 0 },
  'batch of several policies': { before: 2, after: 0, beside: (cost) => cost + 1 },
}

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
  async function failWrites(_: unknown, text: string) {
    // A key without a row gets one by the lock, without a state.
    await pool.query(`
      CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP = 'DELETE' THEN
          IF OLD.key LIKE '%${text}%' THEN RAISE 'disk full'; END IF;
          RETURN OLD;
        END IF;
        IF NEW.key LIKE '%${text}%' AND NEW.state IS NOT NULL THEN RAISE 'disk full'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER disk_full BEFORE INSERT OR UPDATE OR DELETE ON sluice_states
        FOR EACH ROW EXECUTE FUNCTION disk_full()`)
    return () => pool.query('DROP FUNCTION disk_full CASCADE')
  }
  async function countLeft({ clock }: Store<'async'>, text: string) {
    await pool.query(new Statements('public', false).sweep(1_000_000, clock?.(), 10_000).join(';'))
    const count = 'SELECT 1 FROM sluice_states WHERE starts_with(key, $1)'
    return (await pool.query(count, [text])).rowCount ?? 0
  }

  const isRelease = process.env.SLUICE_RELEASE === '1'
  // SQLite plays all algorithms on the same base.
  const played = isRelease ? runner : runnerOfOneAlgorithm
  storeSuite(played, 'the PostgreSQL store', {
    mode: 'async',
    inspects: true,
    create,
    failWrites,
    countLeft,
  })

  describe('through a client of postgres.js', () => {
    let client: postgres.Sql
    beforeAll(() => {
      client = postgres(server.url)
    })
    afterAll(async () => {
      // The other client plays the same on the same keys.
      await client`TRUNCATE sluice_states`
      await client.end()
    })
    const swapping = (clock: () => number) => postgresStore(client, { clock })

    storeSuite(played, 'the PostgreSQL store', {
      mode: 'async',
      inspects: true,
      create: swapping,
      failWrites,
      countLeft,
    })
    if (isRelease) {
      paritySuite('PostgreSQL', swapping, 0.1)
      crowdedSuite('PostgreSQL', swapping, 4)
      crowdedSharingSuite(swapping)
      traceSuite('PostgreSQL', swapping, BESIDE)
    }
  })

  describe('decides as memory does', () => {
    paritySuite('PostgreSQL', create, 0.1)
    crowdedSuite('PostgreSQL', create, 4)
    crowdedSharingSuite(create)
    traceSuite('PostgreSQL', create, BESIDE)
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

    storeSuite(runnerOfOneAlgorithm, 'the PostgreSQL store', {
      mode: 'async',
      create: (clock) => postgresStore(bounced, { clock }),
    })

    test('keys without a lock are decided, whichever connection a statement comes to', async () => {
      const loops = Array.from({ length: 4 }, async (_, i) => {
        const store = postgresStore(bounced)
        const limiter = createLimiter({ ...patient, store, limit: 100, window: '1d' })
        const decisions = []
        for (let turn = 0; turn < 30; turn += 1) decisions.push(await limiter.consume(`loop-${i}`))
        limiter.close()
        return decisions
      })
      for (const decisions of await Promise.all(loops)) {
        expect(decisions.map(({ source }) => source)).toEqual(Array(30).fill('store'))
        expect(decisions.at(-1)?.remaining).toBe(70)
      }
    })

    test.each(['pg', 'postgres'])('two processes that ask for 300 get 100: %s', async (client) => {
      const work = { url: bouncer.url, times: 150, keys: ['a'], client, prefix: client }
      const counts = await runInProcesses<{ a: number }>(worker, 2, work)
      expect(counts.reduce((sum, { a }) => sum + a, 0)).toBe(100)
    })
  })
})
