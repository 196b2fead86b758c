// What a command costs a person who runs it with npx.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execPath } from 'node:process'

const ROUNDS = 9
/** Where no server listens: the command has then loaded all that it needs before it reads a store. */
const NOWHERE = 'redis://127.0.0.1:1'
const STARTS = { '@sluice/cli': ['top', '--once', '--redis', NOWHERE] }
/** Prints the CPU time of a process, in ms: the wall clock would count other processes too. */
const PRINT_CPU = `process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  process._rawDebug('cpu', (user + system) / 1000)
})`

/**
 * @param project where there is room for a folder
 * @returns the bytes of all files that an installation writes; and the ms of CPU that starting takes beyond
 *   those of Node with an empty program, which are 40 to 50: the best of nine interleaved rounds of each
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
  const [node, command] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    node.push(cpuOf('--eval', ''))
    command.push(cpuOf(file, ...(STARTS[name] ?? ['--help'])))
  }
  const start = Math.round(Math.min(...command) - Math.min(...node))
  return { installed: bytesIn(join(folder, 'node_modules')), start }
}

function bytesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

/** @returns ms */
function cpuOf(...args) {
  const preload = `--import=data:text/javascript,${encodeURIComponent(PRINT_CPU)}`
  const { stderr } = spawnSync(execPath, [preload, ...args], { encoding: 'utf8' })
  return Number(/^cpu (.*)$/m.exec(stderr)?.[1])
}
