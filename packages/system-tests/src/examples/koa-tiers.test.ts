import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  awayFromEdge,
  isOpenToOthers,
  type Program,
  startExample,
} from '@sluice/test-harness/examples'
import { useRedis } from '@sluice/test-harness/jest'
import { until } from '@sluice/test-harness/redis'
import request, { type Response } from 'supertest'
import { folderOf } from './folder-of.ts'

const folder = folderOf('koa-tiers')

const redis = useRedis()

describe.each(['memory', 'Redis'])('with %s', (store) => {
  let example: Program

  beforeAll(async () => {
    example = await startExample(folder, store === 'Redis' ? { REDIS_URL: redis.server.url } : {})
  })
  afterAll(async () => {
    await example?.stop()
  })

  const ask = (max: number, key?: string) =>
    request(example.url)
      .get(`/?prompt=one+two+three&max=${max}`)
      .set(key === undefined ? {} : { 'x-api-key': key })
  const tokensLeft = ({ headers }: Response) =>
    Number(/"tokens";r=(\d+)/.exec(headers.ratelimit ?? '')?.[1])

  test('tokens by plan, for each user instead of the address', async () => {
    await awayFromEdge(60_000, 15_000)
    const free = await ask(80, 'free-1')
    expect(free.body).toEqual({ plan: 'free', text: 'one two three', tokens: 3 })
    expect(free.headers['ratelimit-policy']).toBe('"requests";q=20;w=60, "tokens";q=1000;w=60')
    expect(tokensLeft(free)).toBe(920)
    expect(tokensLeft(await ask(80, 'pro-1'))).toBe(9920)
    expect(tokensLeft(await ask(60))).toBe(40)
  })

  test('what was not used is given back', async () => {
    await until(async () => tokensLeft(await ask(1, 'free-1')) > 980, {
      // The limit is 20 requests a minute.
      everyMs: 1000,
      what: 'the tokens that were not used are back',
    })
  })

  test('more than the plan has is refused, and costs nothing', async () => {
    const refused = await ask(101)
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({ 'violated-policies': ['tokens'] })
    expect((await ask(1)).status).toBe(200)
  })

  test('it listens on loopback', async () => {
    expect(await isOpenToOthers(example.url)).toBe(false)
  })
})
