import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

const ROOT = join(import.meta.dirname, '../../../..')
const CLI = 'packages/simulation/src/cli.ts'
/** How many of the first seeds are played in Lua. */
const SEEDS = 100

// A release plays fifty thousand. In a process of its own: Jest does not load the WebAssembly of Lua.
test(`${SEEDS} seeds find nothing where the store is a Redis`, async () => {
  const args = ['scripts/run.mjs', 'tsx', CLI, '--lua', '--seeds', `${SEEDS}`]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT })
  expect(stdout).toContain(`${SEEDS} seeds, `)
}, 1_800_000)
