import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { IN_LUA } from '../choose-seeds.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const CLI = 'packages/simulation/src/cli.ts'

// A release plays fifty thousand. In a process of its own: Jest does not load the WebAssembly of Lua.
test(`${IN_LUA} seeds find nothing where the store is a Redis`, async () => {
  const args = ['scripts/run.mjs', 'tsx', CLI, '--lua', '--seeds', `${IN_LUA}`]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT })
  expect(stdout).toContain(`${IN_LUA} seeds, `)
}, 1_800_000)
