// npm run mutate -- packages/core/src/key: lets Stryker break the sources there in one place after the other, runs
// their tests, and says which breaks none of them notices. The sources are restored in the end.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import process, { argv, exit } from 'node:process'
import { parseArgs } from 'node:util'
import { ensureInstalled } from './install.mjs'
import { findRedis } from './programs/redis.mjs'
import { root, run } from './workspace.mjs'

const HELP = `npm run mutate -- [options] PATH...

Breaks the sources in these files and folders in one place after the other, runs their tests, and prints the
breaks that none of them notices. It changes the sources meanwhile, and restores them.

  --tests PATTERN  the tests that should notice, by a part of their paths. Default: of those that import a source, the
                   nearest: those beside it, if there are any
  --help`

/** The newest that runs on Node 20. npm brings it: nothing else needs it. */
const STRYKER = ['core', 'jest-runner'].map((name) => `--package=@stryker-mutator/${name}@9.6.1`)
/** What is for tests, and what is generated. */
const FOR_TESTS = /\.(test|d|generated)\.ts$|\/testing\/|\/traces\.ts$/

const { values, positionals } = parsed()
if (values.help || positionals.length === 0) {
  console.log(HELP)
  exit(values.help ? 0 : 2)
}
await ensureInstalled()
const sources = linesOf('git', ['ls-files', ...positionals]).filter(
  (path) => /\.ts$/.test(path) && !FOR_TESTS.test(path),
)
const tests = new Set(sources.flatMap(testsOf))
if (tests.size === 0) {
  console.error('No test imports these sources.')
  exit(1)
}
// Stryker can't read the workspace's own, which is in TypeScript.
const harness = createRequire(join(root, 'packages/test-harness/package.json'))
const testEnvironment = harness.resolve('jest-environment-node')
const folder = mkdtempSync(join(tmpdir(), 'sluice-mutate-'))
const config = join(folder, 'stryker.config.json')
writeFileSync(
  config,
  JSON.stringify({
    mutate: sources,
    // A copy would import the sources of other packages from here.
    inPlace: true,
    disableTypeChecks: false,
    testRunner: 'jest',
    plugins: ['@stryker-mutator/jest-runner'],
    jest: {
      configFile: 'jest.config.ts',
      config: { testEnvironment, testMatch: [...tests], testPathIgnorePatterns: [] },
    },
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    concurrency: availableParallelism(),
    timeoutMS: 20_000,
    dryRunTimeoutMinutes: 20,
    tempDirName: 'node_modules/.cache/stryker',
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { logTests: false, reportTests: false },
  }),
)
const npm = ['exec', '--yes', '--prefer-offline', ...STRYKER, '--', 'stryker', 'run', config]
const code = await run('npm', npm, { env: { REDIS_SERVER: await findRedis() } })
rmSync(folder, { recursive: true, force: true })
exit(code)

function parsed() {
  const options = { tests: { type: 'string' }, help: { type: 'boolean', default: false } }
  try {
    return parseArgs({ options, allowPositionals: true, args: argv.slice(2) })
  } catch (error) {
    console.error(`${error.message}\n\n${HELP}`)
    exit(2)
  }
}

/** The paths of the tests of a source. */
function testsOf(source) {
  const jest = [join(root, 'node_modules/jest/bin/jest.js'), '--listTests', '--findRelatedTests']
  const all = linesOf(process.execPath, [...jest, join(root, source)])
  if (values.tests !== undefined) return all.filter((test) => test.includes(values.tests))
  const distance = (test) => relative(join(root, source), test).split('..').length
  const least = Math.min(...all.map(distance))
  return all.filter((test) => distance(test) === least)
}

function linesOf(command, args) {
  return execFileSync(command, args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
}
