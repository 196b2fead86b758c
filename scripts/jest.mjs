// Runs Jest and counts its tests.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { root, run } from './workspace.mjs'

/** How many tests this machine can't run, by the reason, which `describeUnless` has put into their names. */
function skippedIn({ testResults }) {
  const counts = new Map()
  for (const { assertionResults } of testResults)
    for (const { status, fullName } of assertionResults) {
      const [, reason] = /\(skipped: (.*?)\)(?: |$)/.exec(fullName) ?? []
      if (status === 'pending' && reason !== undefined)
        counts.set(reason, (counts.get(reason) ?? 0) + 1)
    }
  return counts
}

/** The lines of a failure that say most. */
const LINES = 25

/** Returns each failure, its reason, and how to repeat it alone, as one text: of a file that could not run, that. */
function failuresIn({ testResults }) {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(root, name)
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    const texts = failed.map(({ fullName, failureMessages }) => ({
      lines: [fullName, ...failureMessages],
      command: `npm test -- ${file} -t ${quoted(fullName)}`,
    }))
    if (texts.length === 0 && message !== '')
      texts.push({ lines: ['could not run', message], command: `npm test -- ${file}` })
    return texts.map(({ lines, command }) => {
      const all = stripVTControlCharacters(lines.join('\n')).split('\n')
      const own = all.filter((line) => !/^\s*$|^\s+at .*(node_modules|node:)/.test(line))
      return `${file}: ${own.slice(0, LINES).join('\n  ')}\n  Again: ${command}`
    })
  })
}

/** The name of a test as a pattern, for a shell. */
function quoted(name) {
  return `'${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll("'", '.')}'`
}

/**
 * A test file that could not run at all counts as one failed test.
 *
 * @param log where all goes that Jest and the tests print, but for the progress. Undefined: they print as they do
 * @param isSilent whether nothing is said of the progress
 */
export async function jest(args, env, { log, isSilent = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-jest-'))
  const outputFile = join(folder, 'results.json')
  const reporters =
    log && !isSilent ? [`--reporters=${join(root, 'scripts/jest-progress.mjs')}`] : []
  const options = ['--ci', '--json', `--outputFile=${outputFile}`, ...reporters]
  const code = await run('jest', [...options, ...args], { env, log })
  const results = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, 'utf8')) : undefined
  rmSync(folder, { recursive: true })
  if (!results) return { code, passed: 0, failed: 1, skipped: new Map(), failures: [] }
  return {
    code,
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: skippedIn(results),
    failures: code === 0 ? [] : failuresIn(results),
  }
}
