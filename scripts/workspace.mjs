// The functions that every script here shares. Node's own modules only: this runs before anything is installed.

import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Runs a command with the terminal of this process; tools of the workspace, and of the package in `cwd`, are
 * found by name. Resolves with its exit code, 127 if it could not be started. Never rejects.
 *
 * @param options.log a file for what it prints. It can still reach the terminal as its file descriptor 3
 */
export function run(command, args, { cwd = root, env = {}, log } = {}) {
  const bins = [cwd, root].map((folder) => join(folder, 'node_modules', '.bin'))
  const path = [...bins, process.env.PATH].join(delimiter)
  return new Promise((resolve) => {
    const file = log === undefined ? undefined : openSync(log, 'a')
    const stdio = file === undefined ? 'inherit' : ['ignore', file, file, 1]
    const child = spawn(command, args, { cwd, stdio, env: { ...process.env, PATH: path, ...env } })
    if (file !== undefined) closeSync(file)
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
