import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { bundleCommand } from '@sluice/terminal/bundle-command'
import { scratch } from '@sluice/test-harness/jest'
import { cliFile } from '../testing/bundle-cli.ts'

const { folder, file } = scratch()
const source = file(
  'server.js',
  "const rateLimit = require('express-rate-limit')\nrateLimit({ max: 5 })\n",
)

async function migrate(cwd: string, ...args: string[]) {
  const command = [await cliFile(), 'migrate', ...args]
  // The launchers of the tests name folders of the workspace there.
  const env = { ...process.env, NODE_PATH: '' }
  return spawnSync(process.execPath, command, { cwd, env, encoding: 'utf8' })
}

describe('sluice migrate', () => {
  const project = join(folder, 'project')
  beforeAll(async () => {
    const migrateFolder = join(__dirname, '../../../migrate')
    const installed = join(project, 'node_modules/@sluice/migrate')
    mkdirSync(installed, { recursive: true })
    const manifest = JSON.parse(readFileSync(join(migrateFolder, 'package.json'), 'utf8'))
    const { bin } = manifest.publishConfig
    writeFileSync(join(installed, 'package.json'), JSON.stringify({ ...manifest, bin }))
    await bundleCommand(migrateFolder, join(installed, 'dist'))
  })

  it('names the package where it is not installed', async () => {
    expect(await migrate(folder, source)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: 'sluice: migrate is a package of its own. Run npx @sluice/migrate FILE…\n',
    })
  })

  it('hands over to it where it is, with its options', async () => {
    const { status, stdout, stderr } = await migrate(project, '--write', source)
    expect(stderr).toContain('server.js: written')
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
    expect(readFileSync(source, 'utf8')).toContain("require('@sluice/express')")
  })

  it('ends as it ends', async () => {
    expect((await migrate(project, join(folder, 'nowhere.js'))).status).toBe(1)
    expect((await migrate(project)).status).toBe(2)
    const { status, stdout } = await migrate(project, '--help')
    expect(status).toBe(0)
    expect(stdout).toContain('Usage: sluice-migrate [options] <files...>')
  })
})
