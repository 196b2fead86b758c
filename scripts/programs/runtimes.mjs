// Bun and Deno, as npm brings them.

import { env } from 'node:process'
import { outputOf } from './npm.mjs'

/**
 * The paths of both, by the variables that the tests read: those of the environment, else from npm. One that npm
 * cannot bring here is left out, and its tests are skipped.
 */
export function findRuntimes() {
  const paths = {
    BUN: env.BUN || outputOf('bun@1', 'bun', '-p', 'process.execPath'),
    DENO: env.DENO || outputOf('deno@2', 'deno', 'eval', '-p', 'process.execPath'),
  }
  return Object.fromEntries(Object.entries(paths).filter(([, path]) => path))
}
