// npm run generate: writes every file that comes from the sources. `--check` writes nothing and fails
// if one is out of date. Either fails if a published README links to a file that does not exist.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { ensureInstalled } from './install.mjs'
import { root } from './workspace.mjs'

await ensureInstalled()
const { addresses, deadLinks } = await import('./generate/addresses.mjs')
const { errors } = await import('./generate/errors.mjs')
const { options } = await import('./generate/options.mjs')
const { reference } = await import('./generate/reference.mjs')

/** Each gives the paths in the repository and the texts of its files. */
const files = [...options(), ...errors(), ...reference(), ...addresses()]
const stale = files.filter(([file, text]) => read(file) !== text)
const isCheck = argv.includes('--check')
const dead = deadLinks()

if (!isCheck) for (const [file, text] of stale) writeFileSync(join(root, file), text)
if (isCheck && stale.length > 0)
  console.error(`Out of date, run "npm run generate":\n${stale.map(([file]) => file).join('\n')}`)
if (dead.length > 0) console.error(`No such file:\n${dead.join('\n')}`)
if ((isCheck && stale.length > 0) || dead.length > 0) exit(1)

function read(file) {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}
