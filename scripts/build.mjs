// npm run build: every package that is published, into its dist. A package that exports something
// becomes one file for each entry and format (scripts/bundle); a command is bundled as ESM alone.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { published } from './addresses.mjs'
import { ensureInstalled } from './install.mjs'
import { isAllowed } from './licences.mjs'
import { inOrder } from './release/packages.mjs'
import { root } from './workspace.mjs'

/** Resolves with true when all of its forms are in dist. */
async function buildPackage(folder) {
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (manifest.exports === undefined) return buildCommand(folder)
  // Imported late: `npm install` may have to run first.
  const { bundle } = await import('./bundle/bundle.mjs')
  await bundle(folder, manifest)
  return true
}

/** A command is bundled with almost all that it needs. */
async function buildCommand(folder) {
  const { tsImport } = await import('tsx/esm/api')
  const bundler = '../packages/terminal/src/bundle-command.ts'
  const { bundleCommand } = await tsImport(bundler, import.meta.url)
  const refused = [...(await bundleCommand(folder))].filter(([, licence]) => !isAllowed(licence))
  for (const [name, licence] of refused) console.error(`${name} has the licence ${licence}`)
  return refused.length === 0
}

/** A package is compiled against what those that it depends on publish: they come first. */
export async function build() {
  for (const name of inOrder(published))
    if (!(await buildPackage(join(root, 'packages', name)))) return false
  return true
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  await ensureInstalled()
  exit((await build()) ? 0 : 1)
}
