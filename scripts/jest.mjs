// Runs Jest and counts its tests.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { root, run } from './workspace.mjs'

/** The tests that this machine can't run; `describeUnless` has put the reason into their names. */
function skippedIn({ testResults }) {
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, fullName }) => status === 'pending' && fullName.includes('(skipped: '))
    .map(({ fullName }) => fullName)
}

/** The lines of a failure that say most. */
const LINES = 25

/** What failed and why, one text each: of a file that could not run, that. */
function failuresIn({ testResults }) {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    const texts = failed.map(({ fullName, failureMessages }) => [fullName, ...failureMessages])
    if (texts.length === 0 && message !== '') texts.push(['could not run', message])
    return texts.map((text) => {
      const lines = stripVTControlCharacters(text.join('\n')).split('\n')
      const own = lines.filter((line) => !/^\s*$|^\s+at .*(node_modules|node:)/.test(line))
      return `${relative(root, name)}: ${own.slice(0, LINES).join('\n  ')}`
    })
  })
}

/** A test file that could not run at all counts as one failed test. */
export async function jest(args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-jest-'))
  const outputFile = join(folder, 'results.json')
  const code = await run('jest', ['--ci', '--json', `--outputFile=${outputFile}`, ...args], { env })
  const results = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, 'utf8')) : undefined
  rmSync(folder, { recursive: true })
  if (!results) return { code, passed: 0, failed: 1, skipped: 0, failures: [] }
  for (const name of skippedIn(results)) console.log(name)
  return {
    code,
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests,
    failures: code === 0 ? [] : failuresIn(results),
  }
}
