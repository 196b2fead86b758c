import { mysqlStore } from '@sluice/mysql'
import type { Pool } from 'mysql2'
import { RateLimiterMySQL } from 'rate-limiter-flexible'
import { withTable } from './flexible.ts'
import { OURS, onStore } from './sluice.ts'
import type { Decide } from './terms.ts'

/** Each in a table of its own, which is there when it resolves; it ends with the process. */
type Make = (pool: Pool) => Promise<Decide>

function sluice(count: number): Make {
  return async (pool) => {
    const store = mysqlStore(pool.promise())
    await store.migrate()
    return onStore(store, count)
  }
}

/** Contenders by name. */
export const mysqlContenders: { readonly [name: string]: Make } = {
  [OURS]: sluice(1),
  [`${OURS}, 2 policies`]: sluice(2),

  'rate-limiter-flexible RateLimiterMySQL.consume': (storeClient) =>
    withTable(
      (terms, ready) => new RateLimiterMySQL({ storeClient, dbName: 'test', ...terms }, ready),
    ),

  'floor: one statement that counts': async (pool) => {
    const query = pool.promise()
    await query.query(
      'CREATE TABLE IF NOT EXISTS floor (id VARBINARY(255) PRIMARY KEY, hits BIGINT) ENGINE = InnoDB',
    )
    const text = 'INSERT INTO floor VALUES (?, 1) ON DUPLICATE KEY UPDATE hits = hits + 1'
    return async (key) => {
      await query.query(text, [key])
      return 0
    }
  },
}
