// node scripts/try-next.mjs [express fastify koa hono]: tests the adapters on what npm calls `next`, the prerelease of
// the framework's next major version. It changes the manifests and the lock file: for CI, or a clone of its own.

import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { setUpTests } from './setup.mjs'
import { root, run } from './workspace.mjs'

const ALL = ['express', 'fastify', 'koa', 'hono']

const { argv, execPath } = process
const names = argv.length > 2 ? argv.slice(2) : ALL
const unknown = names.filter((name) => !ALL.includes(name))
if (unknown.length > 0) {
  console.error(`no adapter for ${unknown.join(', ')}: use ${ALL.join(', ')}`)
  process.exit(1)
}

const failed = []
for (const name of names) if (!(await passes(name))) failed.push(name)
if (failed.length > 0) console.error(`fails on the next version: ${failed.join(', ')}`)
process.exit(failed.length > 0 ? 1 : 0)

/** Whether the adapter's tests pass on the next version, if there is one. */
async function passes(name) {
  const tags = JSON.parse(execFileSync('npm', ['view', name, 'dist-tags', '--json'], { cwd: root }))
  const { latest, next } = tags
  if (next === undefined || major(next) <= major(latest)) {
    console.log(`${name}: no version after ${latest}`)
    return true
  }
  console.log(`${name}: ${next}`)
  const add = ['scripts/pnpm.mjs', '--filter', `@sluice/${name}`, 'add', '-D', `${name}@${next}`]
  const added = await run(execPath, add)
  const tests = ['scripts/run.mjs', 'jest', `packages/${name}/src`]
  return added === 0 && (await run(execPath, tests, { env: await setUpTests(false) })) === 0
}

function major(version) {
  return Number(version.split('.', 1)[0])
}
