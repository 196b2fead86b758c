// Measures the packages: their files and bytes, the bytes of an application that bundles them with what
// they depend on, and those that importing an adapter loads; of a command the bytes installed and loaded.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { measureCommand } from './commands.mjs'
import { firstChunkBytes } from './first-chunk.mjs'
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

/** An application in Express with Redis that answers one request. Its client replies as a server without any state. */
const ONE_REQUEST = `
import express from 'express'
import { rateLimit } from '@sluice/express'
const reply = Buffer.alloc(40)
reply.writeDoubleLE(Date.now())
const run = async () => reply
const store = { status: 'ready', eval: run, evalsha: run, evalBuffer: run, evalshaBuffer: run }
const app = express().use(rateLimit({ store, limit: 100, window: '1m' }), (_, res) => res.end())
const server = app.listen(0, '127.0.0.1', async () => {
  const { headers } = await fetch('http://127.0.0.1:' + server.address().port)
  if (!headers.has('ratelimit')) throw new Error('no limit has decided')
  server.closeAllConnections()
  server.close()
})`

/**
 * @param project has the packages installed
 * @returns the files of each package and their bytes; also those of an application that has all of it
 *   (minified, with the memory store and the store in Redis), and of what a small application begins with (first);
 *   those that importing an adapter loads, and the first request too (request); or if it is a command, those that
 *   it has installed and loads
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
    const first = await firstChunkBytes(project, manifest.name)
    if (first !== undefined) sizes[manifest.name].first = first
  }
  // Every adapter loads the same.
  const ofExpress = sizes['@sluice/express']
  ofExpress.loaded = loadedBytes(project, ['--eval', "require('@sluice/express')"])
  ofExpress.request = loadedBytes(project, ['--input-type=module', '--eval', ONE_REQUEST])
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
