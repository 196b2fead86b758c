// node scripts/licences.mjs: fails if a published package needs something at run time that has a licence
// which not everybody can accept.

import { execFile } from 'node:child_process'
import { argv, execPath, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { published } from './addresses.mjs'
import { manifestOf } from './release/packages.mjs'
import { root } from './workspace.mjs'

const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
]

/** @param licence a licence as manifests have it: `MIT`, `MIT OR GPL-2.0` */
export function isAllowed(licence) {
  return licence.split(' OR ').some((each) => ALLOWED.includes(each))
}

/** @returns one line for each that is not allowed */
async function refused() {
  const filters = published.map((name) => `--filter=${manifestOf(name).name}`)
  const command = ['scripts/pnpm.mjs', ...filters, 'licenses', 'list', '--prod', '--json']
  const { stdout } = await promisify(execFile)(execPath, command, { cwd: root })
  const byLicence = JSON.parse(stdout.slice(stdout.indexOf('{')))
  return Object.entries(byLicence)
    .filter(([licence]) => !isAllowed(licence))
    .map(([licence, packages]) => `${licence}: ${packages.map(({ name }) => name).join(', ')}`)
}

export async function areLicencesAllowed() {
  const lines = await refused()
  if (lines.length > 0) console.error(`Not allowed (scripts/licences.mjs):\n${lines.join('\n')}`)
  return lines.length === 0
}

if (argv[1] === fileURLToPath(import.meta.url)) exit((await areLicencesAllowed()) ? 0 : 1)
