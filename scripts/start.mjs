// npm start, npm start -- site: runs a script of a package, by default the server of the live page.
// npm start -- site build: another script of the package
// node scripts/start.mjs [package] [script]

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { ensureInstalled } from './install.mjs'
import { root, run } from './workspace.mjs'

const [name = 'live', script = 'start'] = process.argv.slice(2)
const folder = join(root, 'packages', name)

// The shell between npm and this process dies of SIGTERM and does not pass it on. Without this
// the server would outlive a stopped npm, and hold its port.
const parent = process.ppid
setInterval(() => process.ppid !== parent && process.kill(process.pid, 'SIGTERM'), 500).unref()

// The page starts soon in a fresh clone: all that the tests need takes longer.
await ensureInstalled(name === 'live' ? name : undefined)
const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
if (!(script in scripts)) {
  console.error(
    `packages/${name} has no script '${script}': use ${Object.keys(scripts).join(', ')}`,
  )
  process.exit(1)
}
const [command, ...args] = scripts[script].split(' ')
process.exit(await run(command, args, { cwd: folder }))
