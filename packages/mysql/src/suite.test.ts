import * as runner from '@jest/globals'
import { afterAll, beforeAll, describe } from '@jest/globals'
import { describeUnless, runnerOfOneAlgorithm } from '@sluice/test-harness/jest'
import { type MysqlServer, startMysql, whyNoMysql } from '@sluice/test-harness/mysql'
import { storeSuite } from '@sluice/test-suites'
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise'
import {
  crowdedSharingSuite,
  crowdedSuite,
} from '../../core/src/algorithms/testing/crowded-parity.ts'
import { paritySuite } from '../../core/src/algorithms/testing/parity-suite.ts'
import { traceSuite } from '../../core/src/algorithms/testing/store-replay.ts'
import { mysqlStore } from './index.ts'
import { Transactions } from './transactions.ts'

describeUnless(whyNoMysql(), 'MySQL', () => {
  let server: MysqlServer
  let pool: Pool
  beforeAll(async () => {
    server = await startMysql()
    pool = createPool(server.url)
    await mysqlStore(pool).migrate()
  })
  afterAll(async () => {
    await pool.end()
    await server.stop()
  })

  const create = (clock: () => number) => mysqlStore(pool, { clock })

  // SQLite plays all algorithms on the same base.
  const played = process.env.SLUICE_RELEASE === '1' ? runner : runnerOfOneAlgorithm
  storeSuite(played, 'the MySQL store', {
    mode: 'async',
    inspects: true,
    create,
    async failWrites(_, text) {
      const rows = { INSERT: 'NEW', UPDATE: 'NEW', DELETE: 'OLD' }
      for (const [event, row] of Object.entries(rows)) {
        // A key without a row gets one by the lock, without a state.
        const isWritten = `${row}.id LIKE '%${text}%' AND (${row}.state IS NOT NULL OR '${event}' = 'DELETE')`
        await pool.query(
          `CREATE TRIGGER disk_full_${event} BEFORE ${event} ON sluice_states FOR EACH ROW BEGIN IF ${isWritten} THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'disk full'; END IF; END`,
        )
      }
      return async () => {
        for (const event of Object.keys(rows)) await pool.query(`DROP TRIGGER disk_full_${event}`)
      }
    },
    async countLeft({ clock }, text) {
      const connection = await pool.getConnection()
      await new Transactions(clock).sweep(connection, 1_000_000)
      connection.release()
      const count = 'SELECT COUNT(*) AS count FROM sluice_states WHERE id LIKE ?'
      const [rows] = await pool.query<RowDataPacket[]>(count, [`${text}%`])
      return rows[0]?.count
    },
  })

  describe('decides as memory does', () => {
    paritySuite('MySQL', create, 0.1)
    crowdedSuite('MySQL', create, 4)
    crowdedSharingSuite(create)
    traceSuite('MySQL', create, {
      alone: { before: 0, after: 0 },
      'batch of several policies': { before: 2, after: 0, beside: (cost) => cost + 1 },
    })
  })
})
