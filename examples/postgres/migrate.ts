// npm run migrate: creates the table, once for each deployment.

import { pool, store } from './store.ts'

await store.migrate()
await pool.end()
