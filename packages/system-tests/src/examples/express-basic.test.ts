import { expect, test } from '@jest/globals'
import {
  isOpenToOthers,
  type Program,
  startExample,
  withinWindow,
} from '@sluice/test-harness/examples'
import { useRedis } from '@sluice/test-harness/jest'
import { until } from '@sluice/test-harness/redis'
import request from 'supertest'
import { folderOf } from './folder-of.ts'

const folder = folderOf('express-basic')

const redis = useRedis()

test('npm start shows requests admitted and refused', async () => {
  await withExample({}, async (example) => {
    await untilDemonstrated(example)
    expect(example.output()).toContain('counted in this process')
    expect(example.output().match(/^request \d: 200/gm)).toHaveLength(5)
    expect(example.output().match(/^request \d: 429 .*Retry-After: \d+$/gm)).toHaveLength(2)

    const { status, body } = await request(example.url).get('/')
    expect([status, body]).toMatchObject([429, { title: 'Quota Exceeded', status: 429 }])
  })
})

test('with REDIS_URL it counts there', async () => {
  const output = await withinWindow(10_000, async () => {
    await redis.server.command('FLUSHALL')
    const example = await startExample(folder, { REDIS_URL: redis.server.url })
    await untilDemonstrated(example)
    await example.stop()
    return example.output()
  })
  expect(output).toContain('counted in Redis')
  expect(output.match(/^request \d: 429/gm)).toHaveLength(2)
  expect(await redis.server.command('KEYS', 'sluice:{[^#]*')).toHaveLength(1)
})

test('it listens on loopback, unless HOST says otherwise', async () => {
  await withExample({}, async ({ url }) => expect(await isOpenToOthers(url)).toBe(false))
  await withExample({ HOST: '0.0.0.0' }, async ({ url }) =>
    expect(await isOpenToOthers(url)).toBe(true),
  )
})

async function untilDemonstrated({ output }: Program): Promise<void> {
  await until(() => output().includes('Try it yourself'), { what: 'the end of the demonstration' })
}

async function withExample(
  env: Record<string, string>,
  use: (example: Program) => Promise<void>,
): Promise<void> {
  const example = await startExample(folder, env, 'stopped')
  try {
    await use(example)
  } finally {
    await example.stop()
  }
}
