import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'

test('while a request without a socket waits, the process lives', async () => {
  const args = ['--import', 'tsx', '--test', join(import.meta.dirname, 'inject.mts')]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 50_000 })
  expect(stdout).toMatch(/^(# |ℹ )pass 2$/m)
})
