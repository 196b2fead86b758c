import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type RedisServer, startRedis } from '../redis/index.ts'
import { blocksOf } from './blocks.ts'

const run = promisify(execFile)
const root = join(__dirname, '../../../..')
const readmes = ['README.md', 'packages/core/README.md', 'packages/express/README.md']

let redis: RedisServer
let folder: string

beforeAll(async () => {
  redis = await startRedis()
  // In the package, so that the blocks find what it depends on.
  folder = mkdtempSync(join(__dirname, '.blocks-'))
})

afterAll(async () => {
  await redis.stop()
  rmSync(folder, { recursive: true })
})

describe.each(readmes)('%s', (readme) => {
  const blocks = blocksOf(readFileSync(join(root, readme), 'utf8'))

  test('has blocks', () => {
    expect(blocks.length).toBeGreaterThan(0)
  })

  test.each(blocks)('the block of line $line runs', async ({ line, program }) => {
    const file = join(folder, `${readme.replace(/\W/g, '-')}-${line}.mts`)
    writeFileSync(file, program)
    await run(process.execPath, ['--import', 'tsx', file], {
      env: { ...process.env, REDIS_URL: redis.url },
    })
  })
})

test('the blocks pass the compiler', async () => {
  for (const readme of readmes) {
    for (const { line, program } of blocksOf(readFileSync(join(root, readme), 'utf8'))) {
      writeFileSync(join(folder, `${readme.replace(/\W/g, '-')}-${line}.mts`), program)
    }
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: { noEmit: true, verbatimModuleSyntax: false },
      include: ['*.mts'],
    }),
  )
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout } = await run(tsc, ['-p', folder]).catch((error) => error)
  expect(stdout).toBe('')
})
