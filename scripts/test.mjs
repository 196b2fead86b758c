// npm test: every check, then the tests. A check that fails does not stop the ones after it.
// npm test -- FILE...: these tests alone. Arguments go to Jest, which finds files by a part of their path.
// npm test -- --all: with what `jest.config.ts` leaves to it, and SQLite on the newest Node
// npm test -- --release: that too, and what `jest.config.ts` leaves to a release: load, histories, measurements
// npm test -- --node: what depends on the version of Node
// npm test -- --packed [FILE...]: what plays the packages as they are installed, ESM and CommonJS. npm test plays a part
// of it, npm test -- --all all of it
//
// The last line counts the tests.

import { argv, execPath, exit, version } from 'node:process'
import { jest } from './jest.mjs'
import { areLicencesAllowed } from './licences.mjs'
import { logFile, removeLogs, secondsSince, showLog } from './log.mjs'
import { installPacked } from './packed.mjs'
import { otherNode } from './programs/node.mjs'
import { setUpTests } from './setup.mjs'
import { run } from './workspace.mjs'

const NEWEST = 'node@26'
const SQLITE = 'packages/sqlite/'
/** Tests that depend on Node: each way to take part in HTTP, the stores, SQLite, and the published packages. */
const OF_NODE = [
  'packages/(express|fastify|hono|koa|nest|node)/src/(suite|express).test',
  'packages/system-tests/src/stores/(memory|redis).test',
  'packages/postgres/src/suite.test',
  SQLITE,
  'packages/system-tests/src/packages/',
  'packages/system-tests/src/readme/readme.test',
]

const started = Date.now()
const failures = []
/** Printed last: of a long log, the end is read first, and sometimes only that is kept. */
const failedTests = []
const counts = { passed: 0, failed: 0 }
let newest

/** @param passes gets the path of a log for what it prints */
async function check(name, passes) {
  const began = Date.now()
  const log = logFile(name)
  const passed = await passes(log)
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${name} (${secondsSince(began)})`)
  if (passed) return
  failures.push(name)
  showLog(log)
}

const succeeds =
  (command, ...args) =>
  async (log) =>
    (await run(command, args, { log })) === 0

async function checkWhatIsWritten() {
  await check('generated files are current', succeeds(execPath, 'scripts/generate.mjs', '--check'))
  await check('words of the documents', succeeds(execPath, 'scripts/words.mjs'))
  await check('prose of the documents', succeeds(execPath, 'scripts/prose.mjs'))
  await check('lint and format', succeeds('biome', 'check', '--error-on-warnings'))
  if (all) await check('licences', areLicencesAllowed)
}

/** Checks types with one checker: several of them check much of the workspace more than once. */
async function checkTypes() {
  await check('types', succeeds('tsc', '--checkers', '1'))
  await check('types in the browser', succeeds('tsc', '-p', 'tsconfig.browser.json'))
}

async function play(files, environment, options) {
  const { code, passed, failed, skipped, ...played } = await jest(files, environment, options)
  counts.passed += passed
  counts.failed += failed
  for (const [reason, count] of skipped) {
    const elsewhere =
      reason.startsWith('SQLite') && newest ? `; run below on Node ${newest.version}` : ''
    console.log(`skipped ${count} tests: ${reason}${elsewhere}`)
  }
  if (code === 0) return passed
  failures.push('tests')
  failedTests.push(...played.failures)
  if (options?.log && played.failures.length === 0) showLog(options.log)
  return passed
}

/** The newest Node, unless it is that of this process, or npm cannot bring it here. */
function findNewest() {
  if (version.startsWith(`v${NEWEST.slice('node@'.length)}.`)) return undefined
  return otherNode(NEWEST) ?? console.log(`skipped ${NEWEST}: npm cannot bring it here`)
}

/** @returns what to say of it */
async function playOn(node) {
  const began = Date.now()
  const options = { log: logFile('newest'), isSilent: true }
  // One version of each framework: the others are tested above, on the Node of this process.
  const few = { ...env, SLUICE_ALL: '', PATH: node.path }
  const passed = await play(['-w', '1', SQLITE], few, options)
  return `Node ${node.version}: ${passed} tests passed (${SQLITE}), ${secondsSince(began)}`
}

/** Plays the packages as users have them, in each format. */
async function playPacked(files, formats, environment) {
  const log = logFile('packed')
  const { env: ofPackages, remove } = await installPacked(log)
  for (const format of formats) {
    const began = Date.now()
    const forms = { ...environment, ...ofPackages, SLUICE_PACKED_FORMAT: format }
    const passed = await play(files, forms, files.length > 0 ? undefined : { log, isSilent: true })
    console.log(`packages as ${format}: ${passed} tests passed, ${secondsSince(began)}`)
  }
  remove()
}

const FORMATS = ['cjs', 'esm']
const isRelease = argv.includes('--release')
const all = isRelease || argv.includes('--all')
const isOfNode = argv.includes('--node')
const isPacked = argv.includes('--packed')
const args = argv
  .slice(2)
  .filter((arg) => !['--all', '--release', '--node', '--packed'].includes(arg))
const isWhole = all || isOfNode || isPacked
const env = {
  ...(await setUpTests(all)),
  ...(isWhole && { SLUICE_ALL: '1' }),
  ...(isRelease && { SLUICE_RELEASE: '1' }),
}

if (isPacked) await playPacked(args, FORMATS, env)
else if (args.length > 0) await play(args, env)
else if (isOfNode) await play(OF_NODE, env, { log: logFile('tests') })
else {
  console.log(`Checking and testing on Node ${version.slice(1)}`)
  // Two at a time: few of them use more than one core.
  await Promise.all([checkTypes(), checkWhatIsWritten()])
  newest = all ? findNewest() : undefined
  // Beside each other: tests wait for a fifth of their time.
  const sources = { ...env, SLUICE_PLAYS_PACKED: '1' }
  const played = play([], sources, { log: logFile('tests') })
  const line = newest && (await playOn(newest))
  await played
  await playPacked([], all ? FORMATS : ['cjs'], env)
  if (line) console.log(line)
}
for (const text of failedTests) console.log(`FAILED ${text}\n`)
for (const name of failures) console.log(`FAILED ${name}: see above`)
if (failures.length === 0) removeLogs()
else if (args.length === 0) console.log(`All that the tests printed: ${logFile('tests')}`)
console.log(`${counts.passed} passed, ${counts.failed} failed, ${secondsSince(started)}`)
exit(failures.length > 0 ? 1 : 0)
