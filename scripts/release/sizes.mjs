// What the packages cost: their files and bytes, the bytes of an application that bundles them with what
// they depend on, and those that importing an adapter loads; of a command the bytes installed and loaded.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { measureCommand } from './commands.mjs'
import { loadedBytes } from './loaded.mjs'

const budgets = JSON.parse(readFileSync(join(import.meta.dirname, 'budgets.json'), 'utf8'))

const NODE = { platform: 'node' }
/** Hono's applications are mostly workers. */
const TARGETS = { '@sluice/hono': { platform: 'browser', conditions: ['worker'] } }

/** The bytes of a package without its peers, which an application has anyway. */
async function minifiedBytes(project, { name, peerDependencies = {} }) {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${name}'`, resolveDir: project },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'node20',
    external: Object.keys(peerDependencies),
    ...(TARGETS[name] ?? NODE),
  })
  return outputFiles[0].contents.byteLength
}

/**
 * @param project has the packages installed
 * @returns the files of each package and their bytes; also those of an application that has all of it
 *   (minified, with the memory store and the store in Redis), those that importing an adapter loads, or if it
 *   is a command, those that it has installed and loads
 */
export async function measure(project, packed) {
  const sizes = {}
  for (const each of packed) {
    const { manifest, files, content } = each
    const further =
      manifest.exports === undefined
        ? measureCommand(project, each)
        : { minified: await minifiedBytes(project, manifest) }
    sizes[manifest.name] = { files: files.length, content, ...further }
  }
  // Every adapter loads the same.
  sizes['@sluice/express'].loaded = loadedBytes(project, '--eval', "require('@sluice/express')")
  return sizes
}

/** @returns one line for each measurement above its budget */
export function tooLarge(sizes) {
  return Object.entries(sizes).flatMap(([name, forms]) =>
    Object.entries(forms)
      .filter(([form, measured]) => !(measured <= budgets[name]?.[form]))
      .map(([form, measured]) => `${name}: ${form} ${measured}, budget ${budgets[name]?.[form]}`),
  )
}
