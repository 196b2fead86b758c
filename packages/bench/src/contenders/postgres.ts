import { setTimeout as delay } from 'node:timers/promises'
import { PostgresStore } from '@acpr/rate-limit-postgresql'
import { postgresStore } from '@sluice/postgres'
import type { Options } from 'express-rate-limit'
import type { Pool, PoolConfig } from 'pg'
import { RateLimiterPostgres } from 'rate-limiter-flexible'
import { withTable } from './flexible.ts'
import { OURS, onStore } from './sluice.ts'
import { type Decide, WINDOW_MS } from './terms.ts'

/** The number of migrations: as many files as its package has for its tables and functions. */
const ACPR_MIGRATIONS = 7

/** Each in a table of its own, which is there when it resolves. */
type Make = (pool: Pool, settings: PoolConfig) => Promise<Decide>

function sluice(schema: string, count: number, logged: boolean): Make {
  return async (pool) => {
    await pool.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    const store = postgresStore(pool, { schema, logged })
    await store.migrate()
    return onStore(store, count)
  }
}

/** Contenders by name. Each is made on a pool, or on one of its own with the same settings. */
export const postgresContenders: { readonly [name: string]: Make } = {
  [OURS]: sluice('sluice', 1, false),
  [`${OURS}, 2 policies`]: sluice('sluice_of_2', 2, false),
  [`${OURS}, 3 policies`]: sluice('sluice_of_3', 3, false),
  [`${OURS}, logged table`]: sluice('sluice_logged', 1, true),

  'rate-limiter-flexible RateLimiterPostgres.consume': (storeClient) =>
    withTable((terms, ready) => new RateLimiterPostgres({ storeClient, ...terms }, ready)),

  '@acpr/rate-limit-postgresql PostgresStore.increment': async (pool, settings) => {
    const store = new PostgresStore(settings, 'bench')
    store.init({ windowMs: WINDOW_MS } as Options)
    // Nobody closes its pool before the server ends.
    store.pool.on('error', () => {})
    // It makes its tables in the background.
    const made = async () => {
      const { rows } = await pool.query("SELECT to_regclass('migrations') IS NOT NULL AS begun")
      if (!rows[0].begun) return 0
      return Number((await pool.query('SELECT count(*) FROM migrations')).rows[0].count)
    }
    while ((await made()) < ACPR_MIGRATIONS) await delay(20)
    return async (key) => (await store.increment(key)).totalHits
  },

  'floor: one statement that counts': async (pool) => {
    await pool.query(
      'CREATE UNLOGGED TABLE IF NOT EXISTS floor (key text PRIMARY KEY, hits bigint) WITH (fillfactor = 70)',
    )
    const text =
      'INSERT INTO floor AS f VALUES ($1, 1) ON CONFLICT (key) DO UPDATE SET hits = f.hits + 1 RETURNING hits'
    return async (key) => Number((await pool.query(text, [key])).rows[0].hits)
  },
}
