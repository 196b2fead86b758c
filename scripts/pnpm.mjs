// node scripts/pnpm.mjs <args>: runs the pnpm that package.json names, with npm's help if need be.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { root, run } from './workspace.mjs'

const wanted = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager

/** The version of the pnpm on the PATH, without letting it fetch another in its own place. */
function installedVersion() {
  const env = {
    ...process.env,
    COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
    npm_config_manage_package_manager_versions: 'false',
  }
  try {
    return execFileSync('pnpm', ['--version'], { cwd: root, env, stdio: 'pipe' }).toString().trim()
  } catch {
    return undefined
  }
}

/** Runs pnpm in the workspace, as `run` does; resolves with its exit code. */
export function pnpm(args, options) {
  return wanted === `pnpm@${installedVersion()}`
    ? run('pnpm', args, options)
    : run('npm', ['exec', '--yes', wanted, '--', ...args], options)
}

if (argv[1] === fileURLToPath(import.meta.url)) exit(await pnpm(argv.slice(2)))
