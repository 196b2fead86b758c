// Writes docs/options.md and the interfaces of options from the table of options. `--check` writes
// nothing and fails if one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { optionInterfaces } from './options/interfaces.mjs'
import { optionsPage } from './options/page.mjs'
import { root } from './workspace.mjs'

const files = [['docs/options.md', optionsPage()], ...optionInterfaces()]
const stale = files.filter(([file, text]) => read(join(root, file)) !== text)

if (!argv.includes('--check')) {
  for (const [file, text] of stale) writeFileSync(join(root, file), text)
} else if (stale.length > 0) {
  console.error(`Out of date, run "npm run generate":\n${stale.map(([file]) => file).join('\n')}`)
  exit(1)
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}
