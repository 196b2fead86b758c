import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { bundleCommand } from '@sluice/terminal/bundle-command'
import { project } from '@sluice/test-harness/packed'

const home = join(__dirname, '..', '..')
/** Where the bundle finds the command's dependencies. */
const folder = mkdtempSync(join(home, 'node_modules/.sluice-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function bundleCli(): Promise<string> {
  copyFileSync(join(home, 'package.json'), join(folder, 'package.json'))
  await bundleCommand(home, join(folder, 'dist'))
  return join(folder, 'dist/main.js')
}

let bundled: Promise<string> | undefined

/** The file of the command: the installed one, or a bundle of the sources as they are now. */
export function cliFile(): Promise<string> {
  bundled ??=
    project === undefined ? bundleCli() : Promise.resolve(join(project, 'node_modules/.bin/sluice'))
  return bundled
}
