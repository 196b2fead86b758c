import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { bundleCommand } from '@sluice/terminal/bundle-command'

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

/** The file of the bundled command: the sources as they are now. */
export function cliFile(): Promise<string> {
  bundled ??= bundleCli()
  return bundled
}
