// Measures the first chunk of an application that bundles a package. Code that it loads later is in chunks
// of their own.

import { build } from 'esbuild'

const LIMITED = "rateLimit({ STORE limit: 100, window: '1m' })"
const WORKER = { platform: 'browser', conditions: ['worker'] }

/** A small application of each, and how it is bundled. */
const APPLICATIONS = {
  '@sluice/express': {
    source: `import express from 'express'
      import { rateLimit } from '@sluice/express'
      import { Redis } from 'ioredis'
      export const app = express().use(${LIMITED.replace('STORE', 'store: new Redis(),')})`,
    platform: 'node',
  },
  '@sluice/hono': {
    source: `import { rateLimit } from '@sluice/hono'
      import { Hono } from 'hono'
      export default new Hono().use(${LIMITED.replace('STORE', '')})`,
    ...WORKER,
  },
  '@sluice/core': {
    source: `import { createLimiter } from '@sluice/core'
      export const limiter = createLimiter({ limit: 100, window: '1m' })`,
    platform: 'node',
  },
}

/**
 * @param project has the packages installed
 * @returns the bytes of the first chunk of an application with this package, minified, without its framework and its
 *   client; undefined: there is no such application
 */
export async function firstChunkBytes(project, name) {
  if (APPLICATIONS[name] === undefined) return undefined
  const { source, ...target } = APPLICATIONS[name]
  const { metafile } = await build({
    stdin: { contents: source, resolveDir: project },
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'node20',
    outdir: project,
    external: ['express', 'ioredis', 'hono', 'hono/*'],
    ...target,
  })
  return bytesOf(metafile.outputs)
}

/** The bytes of the entry, and of the chunks that it imports before it runs. */
function bytesOf(outputs) {
  const [entry] = Object.keys(outputs).filter((file) => outputs[file].entryPoint === '<stdin>')
  const first = new Set([entry])
  for (const file of first)
    for (const { path, kind } of outputs[file].imports)
      if (kind === 'import-statement' && path in outputs) first.add(path)
  return [...first].reduce((sum, file) => sum + outputs[file].bytes, 0)
}
