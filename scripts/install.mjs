// Brings node_modules in step with the lock file, and costs nothing when it already is.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit, versions } from 'node:process'
import { fileURLToPath } from 'node:url'
import { showLog, step } from './log.mjs'
import { pnpm } from './pnpm.mjs'
import { root } from './workspace.mjs'

/** Has the fingerprint of what is installed: of the workspace, or of what one package needs to run. */
const stampOf = (name) =>
  join(root, 'node_modules', `.sluice-installed${name === undefined ? '' : `-${name}`}`)

const has = (stamp, state) => existsSync(stamp) && readFileSync(stamp, 'utf8') === state

/** The folders of the workspace that have a manifest. */
function packageFolders() {
  return ['packages', 'examples']
    .map((parent) => join(root, parent))
    .filter(existsSync)
    .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
    .filter((folder) => existsSync(join(folder, 'package.json')))
}

/** Changes with the lock file and with every manifest. */
function fingerprint(folders) {
  const hash = createHash('sha256')
  const manifests = [root, ...folders].map((folder) => join(folder, 'package.json'))
  for (const file of [
    join(root, 'pnpm-lock.yaml'),
    join(root, 'pnpm-workspace.yaml'),
    ...manifests,
  ])
    hash.update(file).update(readFileSync(file))
  return hash.digest('hex')
}

function requireNode() {
  const [major, minor] = versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  console.error(`Sluice needs Node 20.19 or newer; this is ${versions.node}.`)
  exit(1)
}

/** Removes an installation of what one package needs: it has packages at hand that others must declare. */
function removePart() {
  const folder = join(root, 'node_modules')
  const isPart = (file) => file.startsWith('.sluice-installed-')
  if (existsSync(folder) && readdirSync(folder).some(isPart)) rmSync(folder, { recursive: true })
}

/**
 * Installs what the lock file says. Ends the process if that fails.
 *
 * @param name a package: only what it needs to run
 */
export async function ensureInstalled(name) {
  requireNode()
  const state = fingerprint(packageFolders())
  if (has(stampOf(), state) || has(stampOf(name), state)) return
  // Hoisted, since sources run from here: what a published package bundles is not among its dependencies.
  const only = ['--prod', '--shamefully-hoist', '--filter', `@sluice/${name}...`]
  await step('Installing the dependencies', async (log) => {
    if (name === undefined) removePart()
    const code = await pnpm(['install', '--frozen-lockfile', ...(name ? only : [])], { log })
    if (code === 0) return
    showLog(log)
    exit(code)
  })
  writeFileSync(stampOf(name), state)
}

if (argv[1] === fileURLToPath(import.meta.url)) await ensureInstalled()
