// npm test: everything that CI checks. Arguments go to Jest: npm test -- packages/core
//
// A check that fails does not stop the ones after it. The last line counts Jest's tests.

import { join } from 'node:path'
import { argv, execPath, exit } from 'node:process'
import { build } from './build.mjs'
import { jest } from './jest.mjs'
import { areLicencesAllowed } from './licences.mjs'
import { setUpTests } from './setup.mjs'
import { root, run } from './workspace.mjs'

const failures = []

async function check(name, passes) {
  const started = Date.now()
  const passed = await passes()
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
  if (!passed) failures.push(name)
}

const succeeds = async (command, args) => (await run(command, args)) === 0

const redis = await setUpTests()

const generated = [
  ['docs/errors.md', 'generate-errors.mjs'],
  ['options', 'generate-options.mjs'],
  ['addresses of the packages', 'generate-addresses.mjs'],
  ['tables of the reference', 'generate-reference.mjs'],
]

async function checkWhatIsWritten() {
  for (const [what, script] of generated)
    await check(`generated files are current: ${what}`, () =>
      succeeds(execPath, [join(root, 'scripts', script), '--check']),
    )
  await check('lint and format', () => succeeds('biome', ['check', '--error-on-warnings']))
  await check('build', build)
}

/** With one checker: several of them check much of the workspace more than once. */
async function checkTypes() {
  await check('types', () => succeeds('tsc', ['--checkers', '1']))
  await check('types in the browser', () => succeeds('tsc', ['-p', 'tsconfig.browser.json']))
  await check('licences', areLicencesAllowed)
}

// Two at a time: few of them use more than one core.
await Promise.all([checkTypes(), checkWhatIsWritten()])

const { code, passed, failed } = await jest(argv.slice(2), { REDIS_SERVER: redis })
for (const name of failures) console.log(`FAILED ${name}: see above`)
console.log(`${passed} passed, ${failed} failed`)
exit(failures.length > 0 ? 1 : code)
