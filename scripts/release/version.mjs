// node scripts/release/version.mjs: uses up the changesets of the folder it is run in. The packages get
// the next version, one for all, the examples ask for it, and CHANGELOG.md gets a section that says what is in it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cwd, exit } from 'node:process'
import getReleasePlan from '@changesets/get-release-plan'
import { run } from '../workspace.mjs'

const TITLES = { major: 'Breaking changes', minor: 'New', patch: 'Fixed' }

/** The section of a release. */
function section({ changesets }) {
  const groups = Object.entries(TITLES).map(([type, title]) => {
    const entries = changesets.filter((changeset) => bumpOf(changeset) === type).map(entry)
    return entries.length === 0 ? [] : [`### ${title}`, entries.join('\n')]
  })
  return [`## ${newVersion}`, ...groups.flat()].join('\n\n')
}

/** The largest of its packages' changes. */
function bumpOf({ releases }) {
  return Object.keys(TITLES).find((bump) => releases.some(({ type }) => type === bump))
}

function entry({ summary, releases }) {
  const names = releases.map(({ name }) => `\`${name}\``).join(', ')
  return `- ${names}: ${summary.trim().replace(/\n(?=.)/g, '\n  ')}`
}

const plan = await getReleasePlan(cwd())
if (plan.changesets.length === 0) {
  console.error('No changesets: there is nothing to release. Add one with "npx changeset".')
  exit(1)
}
const { newVersion } = plan.releases.find(({ type }) => type !== 'none')
const code = await run('changeset', ['version'], { cwd: cwd() })
if (code !== 0) exit(code)
const changelog = readFileSync('CHANGELOG.md', 'utf8')
writeFileSync('CHANGELOG.md', changelog.replace(/^(?=## )/m, `${section(plan)}\n\n`))

const edit = (file, change) => writeFileSync(file, change(readFileSync(file, 'utf8')))
for (const example of readdirSync('examples'))
  edit(join('examples', example, 'package.json'), (manifest) =>
    manifest.replace(/("@sluice\/[\w-]+": "\^)[^"]+/g, `$1${newVersion}`),
  )
edit('pnpm-lock.yaml', (lock) =>
  lock.replace(/('@sluice\/[\w-]+':\n +specifier: \^).+/g, `$1${newVersion}`),
)
