// Prints who decides a request while there is no MySQL server.

const { createLimiter } = require('@sluice/core')
const { mysqlStore } = require('@sluice/mysql')
const { createPool } = require('mysql2')

const pool = createPool({ host: '127.0.0.1', port: 1 }).promise()
const limiter = createLimiter({ store: mysqlStore(pool), limit: 2, window: '1d' })
limiter.consume('client').then(({ source }) => {
  console.log(JSON.stringify({ sources: [source] }))
  process.exit()
})
