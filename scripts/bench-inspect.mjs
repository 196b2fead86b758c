// npm run bench:inspect: what it costs to read a million keys. Arguments go to the bench:
// npm run bench:inspect -- --keys 100000

import { argv, exit } from 'node:process'
import { ensureInstalled } from './install.mjs'
import { run } from './workspace.mjs'

await ensureInstalled()
exit(await run('tsx', ['packages/bench/src/inspect/cli.ts', ...argv.slice(2)]))
