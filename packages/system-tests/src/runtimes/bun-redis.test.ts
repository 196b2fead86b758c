// The Redis store on Bun's own client. npm test -- --all runs it, and brings Bun from npm, or takes the path in $BUN.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { describeUnless, scratch } from '@sluice/test-harness/jest'
import { packedPackages } from '@sluice/test-harness/packed'
import { startRedis } from '@sluice/test-harness/redis'
import { build } from 'esbuild'

const bun = process.env.BUN
const reason = bun ? undefined : 'without $BUN, which npm test -- --all takes from npm if it can'

describeUnless(reason, 'Bun', () => {
  const { folder } = scratch()

  test('its own client of Redis keeps the contract of stores', async () => {
    const outfile = join(folder, 'bun-redis.mjs')
    await build({
      entryPoints: [join(import.meta.dirname, 'bun-redis.ts')],
      bundle: true,
      outfile,
      platform: 'node',
      format: 'esm',
      target: 'node22',
      plugins: [packedPackages],
      banner: {
        js: `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const { dirname: __dirname, filename: __filename } = import.meta`,
      },
    })
    const redis = await startRedis()
    try {
      const env = { ...process.env, NO_COLOR: '1' }
      const run = [outfile, redis.url, `${redis.port}`]
      const { stdout } = await promisify(execFile)(bun as string, run, { env })
      const [, passed] = /^(\d+) passed, \d+ failed$/m.exec(stdout) ?? []
      expect([stdout.match(/^FAILED .*\n.*/gm), Number(passed) > 300]).toEqual([null, true])
    } finally {
      await redis.stop()
    }
  })
})
