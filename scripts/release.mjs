// npm run release -- --dry-run [--project FOLDER]: packs the packages, checks them, installs them into
// an empty project and uses them there. Without --dry-run it then publishes them, in the workflow alone.
// npm run release -- --dry-run --matrix: also on each supported Node, with npm, pnpm and Yarn.
// npm run release -- version: uses up the changesets, and freezes the scripts of the next version.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, execPath, exit } from 'node:process'
import { parseArgs } from 'node:util'
import { ensureInstalled } from './install.mjs'
import { run } from './workspace.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'dry-run': { type: 'boolean' },
    matrix: { type: 'boolean' },
    project: { type: 'string' },
  },
})
if (positionals.length > 0) exit(await makeVersion(positionals))

const { publish, whyNotHere } = await import('./release/publish.mjs')
const refusal = values['dry-run'] ? undefined : whyNotHere()
if (refusal !== undefined) {
  console.error(refusal)
  exit(1)
}
await ensureInstalled()

const project = values.project ?? mkdtempSync(join(tmpdir(), 'sluice-release-'))
const packed = await prepare()
if (values.matrix) await tryEverywhere(packed)
if (!values['dry-run']) publish(packed)
if (values.project === undefined) rmSync(project, { recursive: true })

/** @returns the exit code */
async function makeVersion([command]) {
  if (command !== 'version') {
    console.error(`npm run release -- version, not ${command}`)
    return 2
  }
  await ensureInstalled()
  const versioned = await run(execPath, ['scripts/release/version.mjs'])
  return versioned !== 0 ? versioned : run(execPath, ['scripts/release/freeze.mjs'])
}

/** Ends the process if anything is wrong. */
async function prepare() {
  const { pack } = await import('./release/pack.mjs')
  const { problemsOf } = await import('./release/metadata.mjs')
  const { lint } = await import('./release/lint.mjs')
  const { install, smokeTest } = await import('./release/project.mjs')
  const { measure, tooLarge } = await import('./release/sizes.mjs')

  const tarballs = await pack(project)
  install(project, tarballs)
  const sizes = await measure(project, tarballs)
  console.table(sizes)
  const problems = [
    ...tarballs.flatMap(problemsOf),
    ...(await lint(tarballs)),
    ...tooLarge(sizes),
    ...smokeTest(project, tarballs),
  ]
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) exit(1)
  console.log(`${tarballs.length} packages can be published.`)
  return tarballs
}

/** Ends the process if anything is wrong. */
async function tryEverywhere(packed) {
  const { setUpTests } = await import('./setup.mjs')
  Object.assign(env, await setUpTests(false))
  const { playMatrix } = await import('./release/matrix.mjs')
  const { rows, problems } = await playMatrix(join(project, 'matrix'), packed)
  console.table(rows)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) exit(1)
}
