// npm run bench:postgres: builds the packages and measures the PostgreSQL store and its peers.
// Arguments go to the bench: npm run bench:postgres -- --quick

import { argv, exit } from 'node:process'
import { build } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { findPostgres } from './postgres.mjs'
import { run } from './workspace.mjs'

await findPostgres()
await ensureInstalled()
if (!(await build())) exit(1)
exit(await run('tsx', ['packages/bench/src/postgres/cli.ts', ...argv.slice(2)]))
