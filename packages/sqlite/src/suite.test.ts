import * as runner from '@jest/globals'
import { describe } from '@jest/globals'
import { describeUnless, scratch } from '@sluice/test-harness/jest'
import { sqliteDriver, whyNoSqlite } from '@sluice/test-harness/sqlite'
import { storeSuite } from '@sluice/test-suites'
import {
  crowdedSharingSuite,
  crowdedSuite,
} from '../../core/src/algorithms/testing/crowded-parity.ts'
import { paritySuite } from '../../core/src/algorithms/testing/parity-suite.ts'
import { traceSuite } from '../../core/src/algorithms/testing/store-replay.ts'
import { type Driver, ownDriver } from './driver.ts'
import { sqliteStore } from './index.ts'
import { sqliteFile } from './sqlite-file.ts'
import { sweepOf } from './sweep.ts'

describeUnless(whyNoSqlite(), 'SQLite', () => {
  const path = `${scratch().folder}/limits.db`
  const driver = sqliteDriver()
  const create = (clock: () => number) => sqliteStore(path, { driver, clock })
  const Database = () => (driver as Driver | undefined) ?? ownDriver()

  storeSuite(runner, 'the SQLite store', {
    mode: 'async',
    inspects: true,
    create,
    failWrites(_, text) {
      const database = new (Database())(path)
      const conditions = { INSERT: 'NEW', UPDATE: 'NEW', DELETE: 'OLD' }
      for (const [event, row] of Object.entries(conditions)) {
        database.exec(
          `CREATE TRIGGER on_${event} BEFORE ${event} ON sluice_states WHEN ${row}.key LIKE '%${text}%' BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
        )
      }
      return () => {
        for (const event of Object.keys(conditions)) database.exec(`DROP TRIGGER on_${event}`)
        database.close()
      }
    },
    countLeft({ clock = Date.now }, text) {
      const database = new (Database())(path)
      // Another test may have swept at the time of its own clock.
      database.exec("DELETE FROM sluice_states WHERE key = ''")
      database.close()
      const file = sqliteFile(path, Database(), { durable: false, maxBytes: 2 ** 30 })
      const sweep = sweepOf(file)
      while (sweep(2, clock()));
      const left = file.statements().list.all(text, `${text}\x7f`, 0, 1_000_000)
      file.close()
      return (left as unknown[]).length
    },
  })

  describe('decides as memory does', () => {
    paritySuite('SQLite', create, 0.1)
    crowdedSuite('SQLite', create, 4)
    crowdedSharingSuite(create)
    traceSuite('SQLite', create, {
      alone: { before: 0, after: 0 },
      'batch of several policies': { before: 2, after: 0, beside: (cost) => cost + 1 },
    })
  })
})
