import * as runner from '@jest/globals'
import { afterAll, beforeAll } from '@jest/globals'
import { describeUnless } from '@sluice/test-harness/jest'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { storeSuite } from '@sluice/test-suites'
import { Pool } from 'pg'
import { postgresStore } from './index.ts'

describeUnless(whyNoPostgres(), 'with pg', () => {
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

  storeSuite(runner, 'the PostgreSQL store', {
    mode: 'async',
    create: (clock) => postgresStore(pool, { clock }),
  })
})
