// npm run bench:calls: how long one call keeps Redis busy. Arguments go to the bench:
// npm run bench:calls -- --runs 3

import { argv, exit } from 'node:process'
import { ensureInstalled } from './install.mjs'
import { run } from './workspace.mjs'

await ensureInstalled()
exit(await run('tsx', ['packages/bench/src/calls/cli.ts', ...argv.slice(2)]))
