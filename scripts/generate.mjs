// npm run generate: writes every file that comes from the sources. `--check` writes nothing and fails
// if one is out of date. Either fails if a document links to a file or a heading that does not exist.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv, exit } from 'node:process'
import { ensureInstalled } from './install.mjs'
import { root } from './workspace.mjs'

await ensureInstalled()
const isCheck = argv.includes('--check')
const { lua } = await import('./generate/lua.mjs')
// The others load core, which needs it.
const stale = update(lua())
const { addresses } = await import('./generate/addresses.mjs')
const { errors } = await import('./generate/errors.mjs')
const { limitsSchema } = await import('./generate/limits-schema.mjs')
const { deadLinks } = await import('./generate/links.mjs')
const { options } = await import('./generate/options.mjs')
const { reference } = await import('./generate/reference.mjs')
const { skills } = await import('./generate/skills.mjs')

const texts = [options, limitsSchema, errors, reference, addresses, skills]
stale.push(...update(texts.flatMap((write) => write())))
const dead = deadLinks()
if (isCheck && stale.length > 0)
  console.error(`Out of date, run "npm run generate":\n${stale.join('\n')}`)
if (dead.length > 0) console.error(`These lead nowhere:\n${dead.join('\n')}`)
if ((isCheck && stale.length > 0) || dead.length > 0) exit(1)

/**
 * Writes files, but not to check.
 * @param files each the path in the repository, and the text
 * @returns the paths of those that were out of date
 */
function update(files) {
  const stale = files.filter(([file, text]) => read(file) !== text)
  for (const [file, text] of isCheck ? [] : stale) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  return stale.map(([file]) => file)
}

function read(file) {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}
