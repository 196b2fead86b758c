import { type Browser, chromium } from 'playwright-core'
import { findExecutable } from '../executables/index.ts'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** `$CHROMIUM`, else the first Chromium or Chrome on the PATH, without a window. */
export function launch(): Promise<Browser> {
  const executablePath = findExecutable({
    variable: 'CHROMIUM',
    names: ['chromium', 'chromium-browser', 'google-chrome'],
    advice: 'apt-get install chromium, brew install chromium',
  })
  return chromium.launch({ executablePath, args: FLAGS })
}
