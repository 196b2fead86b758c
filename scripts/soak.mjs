// node scripts/soak.mjs --minutes 10: load while Redis is killed, frozen and restarted at random.

import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { ensureInstalled } from './install.mjs'
import { findRedis } from './programs/redis.mjs'
import { root, run } from './workspace.mjs'

const redis = await findRedis()
await ensureInstalled()
const soak = join(root, 'packages', 'system-tests', 'src', 'faults', 'soak.ts')
const args = ['--expose-gc', '--no-warnings', soak, ...argv.slice(2)]
exit(await run('tsx', args, { env: { REDIS_SERVER: redis } }))
