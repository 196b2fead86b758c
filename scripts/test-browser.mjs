// npm run test:browser: the tests of pages, in a real browser. Arguments go to Jest:
// npm run test:browser -- report
//
// The last line counts the tests.

import { argv, exit } from 'node:process'
import { findChromium } from './chromium.mjs'
import { ensureInstalled } from './install.mjs'
import { jest } from './jest.mjs'

const chromium = await findChromium()
await ensureInstalled()
const args = ['--config', 'jest.browser.config.ts', ...argv.slice(2)]
const { code, passed, failed } = await jest(args, { CHROMIUM: chromium })
console.log(`${passed} passed, ${failed} failed in the browser`)
exit(code)
