// node scripts/release/freeze.mjs [FOLDER]: keeps what this version decides on Redis, with its scripts
// and its keys, as one file. released.test.ts lets it share a server with the versions that follow.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { root } from '../workspace.mjs'

const core = join(root, 'packages/core')
const released = join(core, 'src/stores/redis/testing/released')

/** The one before it goes: only neighbours run side by side. */
export async function freeze(folder = released) {
  const { version } = JSON.parse(readFileSync(join(core, 'package.json'), 'utf8'))
  rmSync(folder, { recursive: true, force: true })
  await build({
    stdin: {
      contents: `export { createLimiter } from './limiter/create-limiter.ts'
export { redisStore } from './stores/redis/redis-store.ts'`,
      resolveDir: join(core, 'src'),
    },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    legalComments: 'none',
    outfile: join(folder, `${version}.cjs`),
  })
}

if (argv[1] === fileURLToPath(import.meta.url)) await freeze(argv[2])
