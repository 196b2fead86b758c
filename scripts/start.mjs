// npm start: the live page and its server, from the sources.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { ensureInstalled } from './install.mjs'
import { root, run } from './workspace.mjs'

const live = join(root, 'packages', 'live')

// The shell between npm and this process dies of SIGTERM and does not pass it on. Without this
// the server would outlive a stopped `npm start`, and hold its port.
const parent = process.ppid
setInterval(() => process.ppid !== parent && process.kill(process.pid, 'SIGTERM'), 500).unref()

await ensureInstalled()
const { scripts } = JSON.parse(readFileSync(join(live, 'package.json'), 'utf8'))
const [command, ...args] = scripts.start.split(' ')
process.exit(await run(command, args, { cwd: live }))
