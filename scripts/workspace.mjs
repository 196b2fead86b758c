// What every script here shares. Node's own modules only: this runs before anything is installed.

import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Runs a command with the terminal of this process; tools of the workspace are found by name.
 * Resolves with its exit code, 127 if it could not be started. Never rejects.
 */
export function run(command, args, { cwd = root, env = {} } = {}) {
  const path = [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter)
  return new Promise((resolve) => {
    const options = { cwd, stdio: 'inherit', env: { ...process.env, PATH: path, ...env } }
    const child = spawn(command, args, options)
    const terminate = () => child.kill()
    // Ctrl-C reaches the child from the terminal; it must not end this process first.
    const wait = () => {}
    process.on('SIGTERM', terminate).on('SIGINT', wait)
    const settle = (code) => {
      process.off('SIGTERM', terminate).off('SIGINT', wait)
      resolve(code)
    }
    child.on('error', () => settle(127))
    child.on('exit', (code) => settle(code ?? 1))
  })
}
