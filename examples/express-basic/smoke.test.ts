import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type Example,
  isOpenToOthers,
  startExample,
  withinWindow,
} from '@sluice/test-harness/examples'
import { type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import request from 'supertest'

let redis: RedisServer

beforeAll(async () => {
  redis = await startRedis()
})

afterAll(async () => {
  await redis.stop()
})

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
    await redis.command('FLUSHALL')
    const example = await startExample(__dirname, { REDIS_URL: redis.url })
    await untilDemonstrated(example)
    await example.stop()
    return example.output()
  })
  expect(output).toContain('counted in Redis')
  expect(output.match(/^request \d: 429/gm)).toHaveLength(2)
  expect(await redis.command('DBSIZE')).toBe(1)
})

test('it listens on loopback, unless HOST says otherwise', async () => {
  await withExample({}, async ({ url }) => expect(await isOpenToOthers(url)).toBe(false))
  await withExample({ HOST: '0.0.0.0' }, async ({ url }) =>
    expect(await isOpenToOthers(url)).toBe(true),
  )
})

async function untilDemonstrated({ output }: Example): Promise<void> {
  await until(() => output().includes('Try it yourself'), { what: 'the end of the demonstration' })
}

async function withExample(
  env: Record<string, string>,
  use: (example: Example) => Promise<void>,
): Promise<void> {
  const example = await startExample(__dirname, env, 'stopped')
  try {
    await use(example)
  } finally {
    await example.stop()
  }
}
