// Prints who decides a request while there is no PostgreSQL server.

import { createLimiter } from '@sluice/core'
import { postgresStore } from '@sluice/postgres'
import pg from 'pg'

const pool = new pg.Pool({ host: '127.0.0.1', port: 1 })
const limiter = createLimiter({ store: postgresStore(pool), limit: 2, window: '1d' })
limiter.consume('client').then(({ source }) => {
  console.log(JSON.stringify({ sources: [source] }))
  process.exit()
})
