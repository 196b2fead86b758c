import { createLimiter } from '@sluice/core'
import { mysqlStore } from '@sluice/mysql'
import type { Pool } from 'mysql2'
import { RateLimiterMySQL } from 'rate-limiter-flexible'
import { OURS, policies, readAll } from './sluice.ts'
import { type Decide, LIMIT, WINDOW_MS } from './terms.ts'

/** Each in a table of its own, which is there when it resolves; it ends with the process. */
type Make = (pool: Pool) => Promise<Decide>

function sluice(count: number): Make {
  return async (pool) => {
    const store = mysqlStore(pool.promise())
    await store.migrate()
    // Longer than any pause of the machine: see `readAll`.
    const limiter = createLimiter({
      store,
      prefix: `of-${count}`,
      policies: policies('sliding-window', count),
      deadline: '30s',
    })
    return async (key) => readAll(await limiter.consume(key))
  }
}

/** Contenders by name. */
export const mysqlContenders: { readonly [name: string]: Make } = {
  [OURS]: sluice(1),
  [`${OURS}, 2 policies`]: sluice(2),

  'rate-limiter-flexible RateLimiterMySQL.consume': (storeClient) =>
    new Promise((resolve, reject) => {
      const table = { dbName: 'test', tableName: 'flexible' }
      const terms = { points: LIMIT, duration: WINDOW_MS / 1000, ...table }
      const limiter = new RateLimiterMySQL({ storeClient, ...terms }, (error) => {
        if (error) reject(error)
        else resolve(async (key) => (await limiter.consume(key)).remainingPoints)
      })
    }),

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
