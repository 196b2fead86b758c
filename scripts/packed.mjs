// The packages as users have them, for tests: packed, and installed from their tarballs outside of the workspace.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pack } from './release/pack.mjs'
import { root, run } from './workspace.mjs'

/** Clients that the command finds beside it. */
const CLIENTS = ['ioredis@6', 'pg@8']

/**
 * @returns the variables of the environment with which tests play the installed packages, and what removes these
 * @throws Error if they can't be built or installed
 */
export async function installPacked(log) {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-packed-')))
  const remove = () => rmSync(project, { recursive: true, force: true })
  const packed = await pack(project)
  const tarballs = packed.map(({ path }) => path)
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  const options = ['--legacy-peer-deps', '--no-audit', '--no-fund', '--prefer-offline']
  const code = await run('npm', ['install', ...options, ...CLIENTS, ...tarballs], {
    cwd: project,
    log,
  })
  if (code !== 0) {
    remove()
    throw new Error('npm could not install the packed packages')
  }
  for (const { name, manifest } of packed) linkPeers(project, name, manifest)
  const register = pathToFileURL(join(root, 'packages/test-harness/src/packed/register.mjs')).href
  const env = { SLUICE_PACKED: project, NODE_OPTIONS: `--import ${register}` }
  return { env, remove }
}

/** The frameworks and clients that a package is used with are those of its tests. */
function linkPeers(project, name, { peerDependencies = {} }) {
  for (const peer of Object.keys(peerDependencies)) {
    const installed = join(root, 'packages', name, 'node_modules', peer)
    const link = join(project, 'node_modules', peer)
    if (!existsSync(installed) || existsSync(link)) continue
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(realpathSync(installed), link)
  }
}
