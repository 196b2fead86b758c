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
  // Nothing that a page asks others for leaves this machine.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  `--disable-features=${[
    // Each of these starts further processes with every window, which nobody sees.
    ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'SpareRendererForSitePerProcess'],
    // Playwright disables these for its own sake, and the last list is the one that counts.
    ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'PaintHolding'],
    ...['HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable', 'OptimizationHints', 'AimEnabled'],
  ].join()}`,
]

/**
 * `$CHROMIUM`, else the first on the PATH, without a window. Debian's headless shell has no user interface
 * that it could start: it takes half the CPU.
 */
export function launch(): Promise<Browser> {
  const executablePath = findExecutable({
    variable: 'CHROMIUM',
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
    advice: 'apt-get install chromium-headless-shell, brew install chromium',
  })
  return chromium.launch({ executablePath, args: FLAGS })
}
