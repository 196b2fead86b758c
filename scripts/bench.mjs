// npm run bench: builds the packages and measures them and their peers. Arguments go to the
// bench: npm run bench -- memory --quick

import { argv, exit } from 'node:process'
import { build } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { findRedis } from './redis.mjs'
import { run } from './workspace.mjs'

const redis = await findRedis()
await ensureInstalled()
if (!(await build())) exit(1)
exit(
  await run('tsx', ['packages/bench/src/cli.ts', ...argv.slice(2)], {
    env: { REDIS_SERVER: redis },
  }),
)
