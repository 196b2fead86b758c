// The published form of a package: a file for each entry and format, and a declaration beside it. Code that several
// entries need is in chunks that they share, so they have one state. Libraries that are no dependencies
// in the manifest are bundled too, with their licences.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import commonjs from '@rollup/plugin-commonjs'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { transform } from 'esbuild'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { isAllowed } from '../licences.mjs'
import {
  withoutComments,
  withoutHttp,
  withoutProse,
  withoutSetFields,
  withPureValues,
  withShortLua,
  withTabs,
} from './lighter.mjs'
import { withShortPrivates } from './private-names.mjs'

/** Where the declarations of single modules are before they are bundled; in the package. */
export const declarations = 'dist/declarations'

/** Modules that are loaded together: each file costs time. */
const TOGETHER = {
  // Users of `.` load these, however other entries share its parts.
  core: /\/core\/src\/index\.ts$/,
  // Every remote store needs these.
  remote: /\/(resilience|kept-keyspaces|own-bytes|errors\/setup-error)\.ts$/,
  // The Lua that is generated is short: apart it would be one more file before the first decision.
  redis: /\/redis-parts\.ts$|\.lua\.generated\.ts$/,
}

/** @param manifest the package's manifest: `exports` and `imports` name the sources */
export async function bundle(folder, manifest) {
  const { exports, imports = {}, publishConfig } = manifest
  const entries = Object.keys(publishConfig.exports).map((entry) => [
    entry === '.' ? 'index' : entry.slice(2),
    exports[entry],
  ])
  const platforms = Object.entries(imports).flatMap(([name, conditions]) =>
    Object.entries(conditions).map(([condition, source]) => [
      `${name.slice(1)}-${condition}`,
      source,
    ]),
  )
  // Bundlers for the web take the ESM, so the CommonJS always has what is for Node.
  const node = Object.entries(imports).map(([name, { node }]) => [name, join(folder, node)])
  const libraries = [nodeResolve({ resolveOnly: bundledOf(manifest) }), commonjs()]
  const sources = (named, aliases) => ({
    input: inputs(folder, named, (source) => source),
    plugins: [modules(Object.fromEntries(aliases)), lighter, ...libraries],
  })
  const types = {
    input: inputs(folder, entries, declarationOf),
    plugins: [modules({}, declarationOf), dts(), tabs],
    external: (id) => /^[^./]/.test(id),
  }
  const manualChunks = chunksIn(folder)
  const esm = { format: 'es', ending: 'js', manualChunks }
  const used = await write(folder, sources([...entries, ...platforms], []), esm)
  await write(folder, sources(entries, node), { ...esm, format: 'cjs', ending: 'cjs' })
  await write(folder, types, { format: 'es', ending: 'd.cts' })
  for (const [name] of entries) declareEsm(join(folder, 'dist', name))
  writeLicences(folder, used)
}

/** The chunks of the package that have some of its modules, and what these import. */
function chunksIn(folder) {
  const modules = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
  const chunks = Object.entries(TOGETHER).map(([name, pattern]) => {
    const paths = modules.map((module) => join(folder, 'src', module))
    return [name, paths.filter((path) => pattern.test(path))]
  })
  return Object.fromEntries(chunks.filter(([, paths]) => paths.length > 0))
}

/** The libraries that are in the files; those that users install are imported by them. */
function bundledOf({ dependencies = {}, peerDependencies = {} }) {
  const external = Object.keys({ ...dependencies, ...peerDependencies })
  const isIn = (name, id) => id === name || id.startsWith(`${name}/`)
  return (id) => !external.some((name) => isIn(name, id))
}

function inputs(folder, entries, file) {
  return Object.fromEntries(entries.map(([name, source]) => [name, join(folder, file(source))]))
}

/** `./src/store.ts` or `../store.ts`, as the compiler writes its declaration. */
function declarationOf(source) {
  return source.replace(/^\.\/src\//, `./${declarations}/`).replace(/(?<!\.d)\.ts$/, '.d.ts')
}

/** Finds the modules of the package, by their paths or by an alias. */
function modules(aliases, file = (id) => id) {
  return {
    name: 'modules',
    resolveId(id, importer) {
      if (importer === undefined || aliases[id] !== undefined) return aliases[id] ?? id
      if (id.startsWith('#')) return { id, external: true }
      return id.startsWith('.') && importer.endsWith('.ts')
        ? resolve(dirname(importer), file(id))
        : null
    },
  }
}

/**
 * Declarations that are indented by tabs, whose lines of comments have nothing before their text, and whose private
 * members have no comments: nobody can use them.
 */
const tabs = {
  name: 'tabs',
  renderChunk: (code) =>
    code
      .replace(/^ *\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n(?= *private )/gm, '')
      .replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4))
      .replace(/^\t* \*(?!\/) ?/gm, ''),
}

/** Leaves out types, comments and what only the documentation needs. */
const lighter = {
  name: 'lighter',
  async transform(source, id) {
    if (id.startsWith('\0')) return null
    // Nobody reads a library here.
    if (!id.endsWith('.ts')) {
      const options = { minify: true, legalComments: 'none' }
      return (await transform(withoutHttp(id, source), options)).code
    }
    const compilerOptions = { verbatimModuleSyntax: true }
    const options = { loader: 'ts', target: 'node20', tsconfigRaw: { compilerOptions } }
    const shortened = id.includes('/packages/core/src/') ? withShortPrivates(source) : source
    const { code } = await transform(shortened, options)
    return withShortLua(id, withoutProse(id, withoutSetFields(withoutComments(code))))
  },
  renderChunk: (code, _, { format }) => withTabs(format === 'es' ? withPureValues(code) : code),
}

/** @returns the folders of the libraries that are bundled */
async function write(folder, options, { ending, ...output }) {
  const onLog = (level, { message, plugin }) => {
    // Types that are in a chunk and that no entry exports: users reach them by those that are.
    if (plugin !== 'dts' && level === 'warn') throw new Error(message)
  }
  const built = await rollup({ ...options, onLog })
  await built.write({
    ...output,
    dir: join(folder, 'dist'),
    entryFileNames: `[name].${ending}`,
    chunkFileNames: ({ name }) => `shared/${name.replace(/\.d$/, '')}.${ending}`,
    exports: 'named',
    // As the compiler imports CommonJS with esModuleInterop.
    interop: 'auto',
    externalLiveBindings: false,
    // Names between the files of one package.
    minifyInternalExports: true,
  })
  await built.close()
  const files = built.watchFiles.map((file) =>
    /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file),
  )
  return new Set(files.flatMap((found) => (found === null ? [] : [found[1]])))
}

/**
 * The declaration of the ESM form is that of the CommonJS form: each class has one type then, also in a
 * process that loads both.
 */
function declareEsm(entry) {
  writeFileSync(`${entry}.d.ts`, `export * from './${basename(entry)}.cjs'\n`)
}

/** The licences of what is bundled have to stand beside it. */
function writeLicences(folder, libraries) {
  if (libraries.size === 0) return
  const sections = [...libraries].sort().map((library) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(library, 'package.json'), 'utf8'),
    )
    if (!isAllowed(license)) throw new Error(`${name} has the licence ${license}`)
    const file = readdirSync(library).find((each) => /^licen[cs]e/i.test(each))
    if (file === undefined) throw new Error(`${name} has no text of its licence`)
    return `${name} ${version} (${license})\n\n${readFileSync(join(library, file), 'utf8').trim()}\n`
  })
  writeFileSync(join(folder, 'dist/bundled.txt'), sections.join(`\n${'-'.repeat(72)}\n\n`))
}
