// How large the packages are: packed, and bundled for an application with what they depend on.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const budgets = JSON.parse(readFileSync(join(import.meta.dirname, 'budgets.json'), 'utf8'))

/** Without the peers, which an application has anyway. A command is not bundled. */
async function bundledBytes(project, { name, exports, peerDependencies = {} }) {
  if (exports === undefined) return undefined
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
 * @returns by package the bytes that it has, packed and bundled (minified, gzip)
 */
export async function measure(project, packed) {
  const sizes = {}
  for (const { manifest, bytes } of packed)
    sizes[manifest.name] = { packed: bytes, bundled: await bundledBytes(project, manifest) }
  return sizes
}

/** @returns one line for each size above its budget */
export function tooLarge(sizes) {
  return Object.entries(sizes).flatMap(([name, measured]) =>
    Object.entries(measured)
      .filter(([form, bytes]) => bytes !== undefined && !(bytes <= budgets[name]?.[form]))
      .map(([form, bytes]) => `${name}: ${bytes} bytes ${form}, budget ${budgets[name]?.[form]}`),
  )
}
