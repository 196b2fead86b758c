// Measures the cost of a command for a person who runs it with npx.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadedBytes } from './loaded.mjs'

/** Where no server listens: the command has then loaded all that it needs before it reads a store. */
const NOWHERE = 'redis://127.0.0.1:1'
const STARTS = { '@sluice/cli': ['top', '--once', '--redis', NOWHERE] }

/**
 * @param project where there is room for a folder
 * @returns the bytes of all files that an installation writes, and of those that the command loads
 */
export function measureCommand(project, { path, manifest: { name, bin } }) {
  const folder = join(project, '.commands', name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{}')
  const options = ['--no-audit', '--no-fund', '--prefer-offline']
  execFileSync('npm', ['install', ...options, path], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 2],
  })
  const [main] = Object.values(bin)
  const file = join(folder, 'node_modules', name, main)
  const args = [file, ...(STARTS[name] ?? ['--help'])]
  const loaded = loadedBytes(folder, args, { mayFail: true })
  return { installed: bytesIn(join(folder, 'node_modules')), loaded }
}

function bytesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
