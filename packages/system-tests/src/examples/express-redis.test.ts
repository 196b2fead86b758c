import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  awayFromEdge,
  isOpenToOthers,
  type Program,
  startExample,
} from '@sluice/test-harness/examples'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import request from 'supertest'
import { folderOf } from './folder-of.ts'

const folder = folderOf('express-redis')

let redis: RedisServer
let example: Program

beforeAll(async () => {
  redis = await startRedis()
  example = await startExample(folder, { REDIS_URL: redis.url })
})

afterAll(async () => {
  await example?.stop()
  await redis?.stop()
})

const get = (path: string, key?: string) =>
  request(example.url)
    .get(path)
    .set(key === undefined ? {} : { 'x-api-key': key })

test('limits by plan, each user separately', async () => {
  await awayFromEdge(60_000, 15_000)
  const anonymous = await Promise.all(Array.from({ length: 8 }, () => get('/')))
  expect(anonymous.filter(({ status }) => status === 200)).toHaveLength(5)

  const free = await get('/', 'free-1')
  expect(free.body).toEqual({ plan: 'free', remaining: 9 })
  expect(free.headers['ratelimit-policy']).toBe('"burst";q=20;w=1, "plan";q=10;w=60')
})

test('a report costs five', async () => {
  const response = await get('/report', 'pro-1')
  expect(response.status).toBe(200)
  expect(response.headers.ratelimit).toMatch(/^"burst";r=15;t=1, "plan";r=95;t=\d+$/)
})

test('it listens on loopback', async () => {
  expect(await isOpenToOthers(example.url)).toBe(false)
})
