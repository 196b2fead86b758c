// Prints who decides a request: the store or, where Node has no SQLite, the code of the error.

const { mkdtempSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { createLimiter } = require('@sluice/core')
const { sqliteStore } = require('@sluice/sqlite')

const found = () => {
  try {
    const store = sqliteStore(join(mkdtempSync(join(tmpdir(), 'sluice-')), 'limits.db'))
    return createLimiter({ store, limit: 2, window: '1d' }).consume('client')
  } catch ({ code }) {
    return { source: code }
  }
}
Promise.resolve(found()).then(({ source }) => {
  console.log(JSON.stringify({ found: source }))
  process.exit()
})
