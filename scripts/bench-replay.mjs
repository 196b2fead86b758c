// npm run bench:replay: builds the packages and measures `sluice replay`. Arguments go to the
// bench: npm run bench:replay -- --lines 1000000

import { argv, exit } from 'node:process'
import { build } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { run } from './workspace.mjs'

await ensureInstalled()
if (!(await build())) exit(1)
exit(await run('tsx', ['packages/bench/src/replay/cli.ts', ...argv.slice(2)]))
