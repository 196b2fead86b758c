// The adapter suite on Bun and Deno, and that of Elysia on its server for Node. npm test -- --all runs it for the
// adapters that are made for these runtimes, a release for all. It brings both from npm, or takes the paths in $BUN
// and $DENO.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { describeUnless } from '@sluice/test-harness/jest'
import { packedPackages } from '@sluice/test-harness/packed'
import { build } from 'esbuild'

const OF_NODE = ['express', 'fastify', 'koa', 'node', 'hono, on @hono/node-server']
const SUITES = [
  ...(process.env.SLUICE_RELEASE === '1' ? OF_NODE : ['node']),
  'hono, on its own server',
]
const ELYSIA = 'elysia, on its own server'
const RUNTIMES = [
  ['Bun', process.env.BUN, [], [...SUITES, ELYSIA]],
  ['Deno', process.env.DENO, ['run', '--allow-all'], SUITES],
  ['Node', process.execPath, [], [ELYSIA]],
] as const

const folder = mkdtempSync(join(tmpdir(), 'sluice-runtimes-'))
const file = join(folder, 'suites.mjs')
const elysia = join(folder, 'elysia.mjs')
afterAll(() => rmSync(folder, { recursive: true }))
const bundle = (source: string, outfile: string) =>
  build({
    entryPoints: [join(import.meta.dirname, source)],
    bundle: true,
    outfile,
    platform: 'node',
    format: 'esm',
    plugins: [packedPackages],
    // What packages in CommonJS expect.
    banner: {
      js: `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const { dirname: __dirname, filename: __filename } = import.meta`,
    },
  })
beforeAll(() => Promise.all([bundle('suites.ts', file), bundle('elysia.script.ts', elysia)]))

for (const [name, binary, args, suites] of RUNTIMES) {
  const reason = binary
    ? undefined
    : `without $${name.toUpperCase()}, which npm test -- --all takes from npm if it can`
  describeUnless(reason, name, () => {
    test.concurrent.each(suites)(
      '%s',
      async (suite) => {
        const run = [...args, file, suite]
        const env = { ...process.env, NO_COLOR: '1' }
        const { stdout } = await promisify(execFile)(binary as string, run, { env })
        const [, passed] = /^(\d+) passed, \d+ failed$/m.exec(stdout) ?? []
        expect([stdout.match(/^FAILED .*\n.*/gm), Number(passed) > 200]).toEqual([null, true])
      },
      240_000,
    )

    if (name === 'Deno') return
    test('WebSockets of Elysia, with its client', async () => {
      const { stdout } = await promisify(execFile)(binary as string, [elysia])
      expect(JSON.parse(stdout)).toEqual({
        open: ['hello', 'hello'],
        refused: [429, true],
        afterClose: 101,
        noUpgrade: [404, 404, 404],
        // Bun routes a request of a host of one letter.
        shortHost: [200, 429],
        got: [{ left: 8 }, 200],
      })
    })
  })
}
