// Prints who decides a request: the store or, where Node has no SQLite, the code of the error.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLimiter } from '@sluice/core'
import { sqliteStore } from '@sluice/sqlite'

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
