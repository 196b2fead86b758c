// node scripts/run.mjs <tool> <args>: runs a tool of the workspace, installed first where needed.

import { argv, exit } from 'node:process'
import { ensureInstalled } from './install.mjs'
import { run } from './workspace.mjs'

await ensureInstalled()
const [tool, ...args] = argv.slice(2)
exit(await run(tool, args))
