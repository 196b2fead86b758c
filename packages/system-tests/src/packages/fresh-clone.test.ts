// The first command of the README in a fresh clone: it installs what the page needs, and no more.

import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { untilListening } from '@sluice/test-harness/processes'
import { filesOf, root } from '../files.ts'

test('npm start serves the page', async () => {
  const clone = mkdtempSync(join(tmpdir(), 'sluice-clone-'))
  for (const file of filesOf()) cpSync(join(root, file), join(clone, file))
  const child = spawn(process.execPath, ['scripts/start.mjs'], {
    cwd: clone,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    const page = await untilListening(child, 120_000)
    expect(page.output()).toMatch(/^Installing the dependencies \.* \d/m)
    expect((await fetch(page.url)).status).toBe(200)
    await page.stop()
    expect(existsSync(join(clone, 'packages/core/node_modules/ioredis'))).toBe(false)
  } finally {
    rmSync(clone, { recursive: true, force: true })
  }
})
