import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

// What they import does not load in Jest: light-my-request, and readable-stream of npm.
test.each([
  ['inject.mts', 4],
  ['compress.mts', 3],
])('%s', async (file, count) => {
  const args = ['--import', 'tsx', '--test', join(import.meta.dirname, file)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 50_000 })
  expect(stdout).toMatch(new RegExp(`^(# |ℹ )pass ${count}$`, 'm'))
})
