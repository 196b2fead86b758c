// Writes into each published package where it is found: `repository`, `homepage` and `bugs` of its
// manifest, and absolute links in its README, which is read on npm. `--check` writes nothing and
// fails if something is out of date. Either fails if a link leads to a file that does not exist.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { absolute, fileAt, placeOf, published } from './addresses.mjs'
import { root } from './workspace.mjs'

const LINK = /(?<=\]\()[^()\s]+(?=\))|(?<=\b(?:src|srcset|href)=")[^"]+(?=")/g

const outdated = []
const dead = []
for (const name of published) {
  const folder = `packages/${name}`
  update(`${folder}/package.json`, (text) => withPlace(text, placeOf(name)))
  update(`${folder}/README.md`, (text) => text.replace(LINK, (link) => absolute(folder, link)))
  for (const [link] of read(`${folder}/README.md`).matchAll(LINK)) {
    const file = fileAt(link)
    if (file !== undefined && !existsSync(join(root, file))) dead.push(`${folder}: ${link}`)
  }
}
if (outdated.length > 0)
  console.error(`Out of date, run "npm run generate":\n${outdated.join('\n')}`)
if (dead.length > 0) console.error(`No such file:\n${dead.join('\n')}`)
if (outdated.length + dead.length > 0) exit(1)

function read(file) {
  return readFileSync(join(root, file), 'utf8')
}

function update(file, change) {
  const text = read(file)
  const current = change(text)
  if (current === text) return
  if (argv.includes('--check')) outdated.push(file)
  else writeFileSync(join(root, file), current)
}

/** A manifest's text with the place behind its licence. */
function withPlace(text, place) {
  const { name, version, description, keywords, license, ...rest } = JSON.parse(text)
  const manifest = { name, version, description, keywords, license, ...place }
  return `${JSON.stringify({ ...manifest, ...rest, ...place }, null, 2)}\n`
}
