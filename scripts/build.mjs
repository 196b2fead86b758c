// npm run build: every package that has a tsconfig.build.json, as ESM and as CommonJS, into dist. A
// package that exports nothing, only a command, is ESM alone.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { argv, exit } from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ensureInstalled } from './install.mjs'
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
  if (exports === undefined) {
    if ((await tsc([])) !== 0) return false
    await publishBuilt(folder)
    return true
  }
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

/**
 * A module `x.built.ts` of a command is run now, and what it exports is published in its place: data
 * that takes tools to make, which users don't have.
 */
async function publishBuilt(folder) {
  const { tsImport } = await import('tsx/esm/api')
  const dist = join(folder, 'dist')
  const files = readdirSync(dist, { recursive: true })
  for (const file of files.filter((name) => name.endsWith('.built.js'))) {
    const source = join(folder, 'src', file.replace(/js$/, 'ts'))
    const exported = await tsImport(pathToFileURL(source).href, import.meta.url)
    const lines = Object.entries(exported).map(
      ([name, value]) => `export const ${name} = ${JSON.stringify(value)}\n`,
    )
    writeFileSync(join(dist, file), lines.join(''))
  }
}

/** The core first: the others are compiled against what it publishes. */
export async function build() {
  const packages = readdirSync(join(root, 'packages'))
    .filter((name) => existsSync(join(root, 'packages', name, 'tsconfig.build.json')))
    .sort((a, b) => Number(b === 'core') - Number(a === 'core'))
  for (const name of packages) if (!(await buildPackage(join(root, 'packages', name)))) return false
  return true
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  await ensureInstalled()
  exit((await build()) ? 0 : 1)
}
