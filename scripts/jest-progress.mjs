// Jest's reporter in `npm test`: a line for each tenth of the test files, and for each file that failed. `jest.mjs` says
// why, at the end.

import { writeSync } from 'node:fs'
import { relative } from 'node:path'
import { secondsSince } from './log.mjs'
import { root } from './workspace.mjs'

/** Where `jest.mjs` reads: what Jest and the tests themselves print goes into a log. */
const REPORT = 3

export default class JestProgress {
  started = Date.now()
  files = 0
  tenths = 0

  onTestResult(
    { path },
    { numFailingTests, testExecError },
    { numTotalTestSuites, numPassedTests, numFailedTests },
  ) {
    this.files += 1
    if (numFailingTests > 0 || testExecError)
      writeSync(REPORT, `FAILED ${numFailingTests} of ${relative(root, path)}\n`)
    const tenths = Math.floor((10 * this.files) / numTotalTestSuites)
    if (tenths === this.tenths) return
    this.tenths = tenths
    const failed = numFailedTests > 0 ? `, ${numFailedTests} FAILED` : ''
    const counts = `${numPassedTests} tests passed${failed}`
    writeSync(REPORT, `${`${tenths}0 %`.padStart(6)} ${counts}, ${secondsSince(this.started)}\n`)
  }
}
