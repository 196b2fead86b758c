// node scripts/release/notes.mjs: prints what CHANGELOG.md says of the packages' version, with links for any place.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { absolute } from '../addresses.mjs'
import { root } from '../workspace.mjs'
import { manifestOf } from './packages.mjs'

const { version } = manifestOf('core')
const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^(?=## )/m)
const section = sections.find((text) => text.startsWith(`## ${version}\n`))
if (section === undefined) throw new Error(`CHANGELOG.md says nothing of ${version}`)
const text = section.slice(section.indexOf('\n')).trim()
console.log(text.replace(/(?<=\]\()[^()\s]+(?=\))/g, (link) => absolute('.', link)))
