// Other versions of Node, as npm brings them.

import { execFileSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { env } from 'node:process'
import { root } from '../workspace.mjs'

/**
 * What to run the workspace's tools with, on another Node.
 *
 * @param wanted such as `node@26`
 * @returns its version and the PATH; undefined if npm cannot bring it here
 */
export function otherNode(wanted) {
  try {
    const node = output('npm', [
      ...['exec', '--yes', '--prefer-offline', `--package=${wanted}`],
      ...['--', 'node', '-p', 'process.execPath'],
    ])
    const path = [join(root, 'node_modules', '.bin'), dirname(node), env.PATH].join(delimiter)
    return { version: output(node, ['--version']), path }
  } catch {
    return undefined
  }
}

const output = (command, args) =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
