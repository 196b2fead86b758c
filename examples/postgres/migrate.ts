// npm run migrate: creates the table, once per deployment.

import { pool, store } from './store.ts'

await store.migrate()
await pool.end()
