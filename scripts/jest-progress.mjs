// Jest's reporter in `npm test`: a line for each tenth of the test files. `jest.mjs` says what failed.

import { writeSync } from 'node:fs'
import { secondsSince } from './log.mjs'

/** Where `jest.mjs` reads: what Jest and the tests themselves print goes into a log. */
const REPORT = 3

export default class JestProgress {
  started = Date.now()
  files = 0
  tenths = 0

  onTestResult(_test, _result, { numTotalTestSuites, numPassedTests, numFailedTests }) {
    this.files += 1
    const tenths = Math.floor((10 * this.files) / numTotalTestSuites)
    if (tenths === this.tenths) return
    this.tenths = tenths
    const failed = numFailedTests > 0 ? `, ${numFailedTests} FAILED` : ''
    const counts = `${numPassedTests} tests passed${failed}`
    writeSync(REPORT, `${`${tenths}0 %`.padStart(6)} ${counts}, ${secondsSince(this.started)}\n`)
  }
}
