// The published form of a package: a file for each entry and format, and a declaration beside it. Code that several
// entries need is in chunks that they share, so they have one state. Libraries that are no dependencies
// in the manifest are bundled too, with their licences.

import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import commonjs from '@rollup/plugin-commonjs'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import esbuild from 'rollup-plugin-esbuild'
import { writeLicences } from './licences.mjs'

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
  const input = (named) =>
    Object.fromEntries(named.map(([name, file]) => [name, join(folder, file)]))
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  const external = (id) => installed.some((name) => id === name || id.startsWith(`${name}/`))
  // Bundlers for the web take the ESM, so the CommonJS always has what is for Node.
  const resolve = nodeResolve({ extensions: ['.ts', '.js'], exportConditions: ['node'] })
  const plugins = [
    resolve,
    commonjs(),
    esbuild({ target: 'node20', tsconfig: join(folder, 'tsconfig.build.json') }),
  ]
  const esm = {
    plugins,
    input: input([...entries, ...platforms]),
    external: (id) => id.startsWith('#') || external(id),
  }
  const libraries = await write(folder, esm, { format: 'es', ending: 'js', manualChunks })
  const cjs = { plugins, input: input(entries), external }
  await write(folder, cjs, { format: 'cjs', ending: 'cjs', manualChunks })
  const types = {
    input: input(entries),
    external: (id) => /^[^./#]/.test(id),
    plugins: [resolve, dts({ tsconfig: join(folder, 'tsconfig.build.json') })],
  }
  await write(folder, types, { format: 'es', ending: 'd.cts' })
  for (const [name] of entries) declareEsm(join(folder, 'dist', name))
  writeLicences(join(folder, 'dist/bundled.txt'), libraries)
}

function manualChunks(id) {
  return Object.keys(TOGETHER).find((name) => TOGETHER[name].test(id))
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
  })
  await built.close()
  const library = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//
  return new Set(built.watchFiles.flatMap((file) => library.exec(file)?.[1] ?? []))
}

/**
 * The declaration of the ESM form is that of the CommonJS form: each class has one type then, also in a
 * process that loads both. `export *` leaves out the default, which each entry exports by name too.
 */
function declareEsm(entry) {
  const from = `'./${basename(entry)}.cjs'`
  const [, name] = /(\w+) as default\b/.exec(readFileSync(`${entry}.d.cts`, 'utf8')) ?? []
  const byDefault = name === undefined ? '' : `export { ${name} as default } from ${from}\n`
  writeFileSync(`${entry}.d.ts`, `export * from ${from}\n${byDefault}`)
}
