// npm run build: every package that is published, as ESM and as CommonJS, into dist. A package that
// exports nothing, only a command, is bundled as ESM alone.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { argv, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { published } from './addresses.mjs'
import { ensureInstalled } from './install.mjs'
import { isAllowed } from './licences.mjs'
import { root, run } from './workspace.mjs'

const commonjs = [
  ['--outDir', 'dist/cjs'],
  ['--module', 'commonjs'],
  ['--moduleResolution', 'bundler'],
  // The option forbids import and export in a file that becomes CommonJS.
  ['--verbatimModuleSyntax', 'false'],
].flat()

/** Resolves with true when all of its forms are in dist. */
async function buildPackage(folder) {
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const tsc = (options) =>
    run('tsc', ['-p', 'tsconfig.build.json', '--checkers', '1', ...options], { cwd: folder })
  const { exports, imports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (exports === undefined) return buildCommand(folder)
  const codes = await Promise.all([tsc([]), tsc(commonjs)])
  if (codes.some((code) => code !== 0)) return false
  writeFileSync(join(folder, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n')
  if (imports !== undefined) requireDirectly(join(folder, 'dist/cjs'), imports)
  return true
}

/**
 * Replaces `require("#name")` by the file for Node: the nearest manifest has no `imports`, because it
 * is the one that makes these files CommonJS. Bundlers for the web take the ESM.
 */
function requireDirectly(dist, imports) {
  for (const name of readdirSync(dist, { recursive: true }).filter((each) =>
    each.endsWith('.js'),
  )) {
    const file = join(dist, name)
    const code = readFileSync(file, 'utf8').replace(/require\("(#[^"]+)"\)/g, (_, imported) => {
      const built = imports[imported].node.replace('./src/', '').replace(/ts$/, 'js')
      const path = relative(dirname(file), join(dist, built)).split(sep).join('/')
      return `require("./${path}")`
    })
    writeFileSync(file, code)
  }
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

/** The core first: the others are compiled against what it publishes. */
export async function build() {
  const packages = published.toSorted((a, b) => Number(b === 'core') - Number(a === 'core'))
  for (const name of packages) if (!(await buildPackage(join(root, 'packages', name)))) return false
  return true
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  await ensureInstalled()
  exit((await build()) ? 0 : 1)
}
