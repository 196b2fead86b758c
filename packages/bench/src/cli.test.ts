import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

async function bench(...args: string[]) {
  const command = ['--import', 'tsx', join(import.meta.dirname, 'cli.ts'), ...args]
  return promisify(execFile)(process.execPath, command, { cwd: import.meta.dirname })
}

it('npm run bench says how it is used where it is not used so', async () => {
  await expect(bench('memroy')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/there is no part memroy[\s\S]*npm run bench -- \[memory\]/),
  })
})
