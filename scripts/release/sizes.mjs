// What the packages cost: their bytes packed, and bundled for an application with what they depend on; of
// a command its bytes installed, and the ms until it has started.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { measureCommand } from './commands.mjs'

const budgets = JSON.parse(readFileSync(join(import.meta.dirname, 'budgets.json'), 'utf8'))

/** Without the peers, which an application has anyway. */
async function bundledBytes(project, { name, peerDependencies = {} }) {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${name}'`, resolveDir: project },
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: Object.keys(peerDependencies),
  })
  return gzipSync(outputFiles[0].contents).byteLength
}

/**
 * @param project has the packages installed
 * @returns by package the bytes that it has packed; also those that it has bundled (minified, gzip),
 *   or if it is a command, those that it has installed, with the ms that starting it takes
 */
export async function measure(project, packed) {
  const sizes = {}
  for (const each of packed) {
    const { manifest, bytes } = each
    const further =
      manifest.exports === undefined
        ? measureCommand(project, each)
        : { bundled: await bundledBytes(project, manifest) }
    sizes[manifest.name] = { packed: bytes, ...further }
  }
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
