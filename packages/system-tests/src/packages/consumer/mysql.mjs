// Prints who decides a request while there is no MySQL server.

import { createLimiter } from '@sluice/core'
import { mysqlStore } from '@sluice/mysql'
import { createPool } from 'mysql2/promise'

const pool = createPool({ host: '127.0.0.1', port: 1 })
const limiter = createLimiter({ store: mysqlStore(pool), limit: 2, window: '1d' })
limiter.consume('client').then(({ source }) => {
  console.log(JSON.stringify({ sources: [source] }))
  process.exit()
})
