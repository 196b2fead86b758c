// Runs Jest and counts its tests.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './workspace.mjs'

/** The tests that this machine can't run; `describeUnless` has put the reason into their names. */
function skippedIn({ testResults }) {
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, fullName }) => status === 'pending' && fullName.includes('(skipped: '))
    .map(({ fullName }) => fullName)
}

/** A test file that could not run at all counts as one failed test. */
export async function jest(args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-jest-'))
  const outputFile = join(folder, 'results.json')
  const code = await run('jest', ['--ci', '--json', `--outputFile=${outputFile}`, ...args], { env })
  const results = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, 'utf8')) : undefined
  rmSync(folder, { recursive: true })
  if (!results) return { code, passed: 0, failed: 1, skipped: 0 }
  for (const name of skippedIn(results)) console.log(name)
  return {
    code,
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests,
  }
}
