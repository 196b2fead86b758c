// Programs that npm brings, into its own cache.

import { execFileSync } from 'node:child_process'

/**
 * Returns the output of a program of a package.
 *
 * @param wanted the package, such as `node@26`
 * @returns undefined if npm cannot bring it here
 */
export function outputOf(wanted, command, ...args) {
  try {
    const npm = ['exec', '--yes', '--prefer-offline', `--package=${wanted}`, '--']
    return output('npm', [...npm, command, ...args])
  } catch {
    return undefined
  }
}

/** Returns the output of a command. */
export const output = (command, args) =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
