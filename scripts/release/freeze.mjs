// node scripts/release/freeze.mjs [FOLDER]: keeps what this version decides on Redis, with its scripts
// and its keys, as one file. released.test.ts lets it share a server with the versions that follow.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { root } from '../workspace.mjs'

const core = join(root, 'packages/core')
const released = join(core, 'src/stores/redis/testing/released')

/** The file of the packages' version, and what is in it. */
async function frozen(folder) {
  const { version } = JSON.parse(readFileSync(join(core, 'package.json'), 'utf8'))
  const { outputFiles } = await build({
    stdin: {
      contents: `export { createLimiter } from './limiter/create-limiter.ts'
export { redisStore } from './stores/redis/redis-store.ts'`,
      resolveDir: join(core, 'src'),
    },
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    legalComments: 'none',
  })
  return [join(folder, `${version}.cjs`), outputFiles[0].text]
}

/** The one before it goes: only neighbours run side by side. */
export async function freeze(folder = released) {
  const [file, text] = await frozen(folder)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, text)
}

/** Whether the packages' version is frozen, as it is now. */
export async function isFrozen(folder = released) {
  const [file, text] = await frozen(folder)
  return existsSync(file) && readFileSync(file, 'utf8') === text
}

if (argv[1] === fileURLToPath(import.meta.url)) await freeze(argv[2])
