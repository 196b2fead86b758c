// npm test: every check, then the tests, and some of them on the newest Node. A check that fails does not
// stop the ones after it.
// npm test -- FILE...: these tests alone. Arguments go to Jest, which finds files by a part of their path.
// npm test -- --all: with the tests that take minutes: pages in a real browser, and a dry run of a release
//
// The last line counts the tests.

import { argv, execPath, exit, version } from 'node:process'
import { build } from './build.mjs'
import { jest } from './jest.mjs'
import { areLicencesAllowed } from './licences.mjs'
import { findChromium } from './programs/chromium.mjs'
import { otherNode } from './programs/node.mjs'
import { setUpTests } from './setup.mjs'
import { run } from './workspace.mjs'

const NEWEST = 'node@26'
/** What depends on Node: each way to take part in HTTP, SQLite, and the first program of each document. */
const ON_NEWEST = [
  'packages/(fastify|hono|node)/src/suite.test',
  'packages/sqlite/',
  'packages/system-tests/src/readme/readme.test',
]

const failures = []
/** Printed last: of a long log, the end is read first, and sometimes only that is kept. */
const failedTests = []

async function check(name, passes) {
  const started = Date.now()
  const passed = await passes()
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
  if (!passed) failures.push(name)
}

const succeeds = async (command, args) => (await run(command, args)) === 0

async function checkWhatIsWritten() {
  await check('generated files are current', () =>
    succeeds(execPath, ['scripts/generate.mjs', '--check']),
  )
  await check('lint and format', () => succeeds('biome', ['check', '--error-on-warnings']))
  await check('build', build)
}

/** Checks types with one checker: several of them check much of the workspace more than once. */
async function checkTypes() {
  await check('types', () => succeeds('tsc', ['--checkers', '1']))
  await check('types in the browser', () => succeeds('tsc', ['-p', 'tsconfig.browser.json']))
  await check('licences', areLicencesAllowed)
}

const all = argv.includes('--all')
const args = argv.slice(2).filter((arg) => arg !== '--all')

const env = { REDIS_SERVER: await setUpTests() }
if (all) env.CHROMIUM = await findChromium()
// Two at a time: few of them use more than one core.
if (args.length === 0) await Promise.all([checkTypes(), checkWhatIsWritten()])

const counts = { passed: 0, failed: 0 }
// Last: Jest would take what follows for a second pattern.
const everything = all ? ['--testPathIgnorePatterns=/node_modules/'] : []
const played = play([...args, ...everything], env)
// Beside the others, which wait for a fifth of their time.
if (args.length === 0) await playOnNewest()
await played
for (const text of failedTests) console.log(`FAILED ${text}\n`)
for (const name of failures) console.log(`FAILED ${name}: see above`)
console.log(`${counts.passed} passed, ${counts.failed} failed`)
exit(failures.length > 0 ? 1 : 0)

async function play(files, environment) {
  const { code, passed, failed, ...played } = await jest(files, environment)
  counts.passed += passed
  counts.failed += failed
  if (code === 0) return
  failures.push('tests')
  failedTests.push(...played.failures)
}

/** Adapters and READMEs on the newest Node, unless it is that of this process. CI plays all on each Node. */
async function playOnNewest() {
  if (version.startsWith(`v${NEWEST.slice('node@'.length)}.`)) return
  const node = otherNode(NEWEST)
  if (node === undefined) return console.log(`skipped ${NEWEST}: npm cannot bring it here`)
  console.log(`On Node ${node.version} too: ${ON_NEWEST.join(' ')}`)
  await play(['-w', '1', ...ON_NEWEST], { ...env, PATH: node.path })
}
