import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  awayFromEdge,
  isOpenToOthers,
  type Program,
  startExample,
} from '@sluice/test-harness/examples'
import { useRedis } from '@sluice/test-harness/jest'
import request from 'supertest'
import { folderOf } from './folder-of.ts'

const folder = folderOf('nest')

const redis = useRedis()

describe.each(['memory', 'Redis'])('with %s', (store) => {
  let example: Program

  beforeAll(async () => {
    example = await startExample(folder, store === 'Redis' ? { REDIS_URL: redis.server.url } : {})
  })
  afterAll(async () => {
    await example?.stop()
  })

  test('logins have their own limit, health checks none', async () => {
    await awayFromEdge(15 * 60_000, 20_000)
    const logins: number[] = []
    for (let i = 0; i < 4; i += 1) logins.push((await request(example.url).post('/login')).status)
    expect(logins).toEqual([201, 201, 201, 429])
    const { headers } = await request(example.url).get('/health')
    expect(headers['ratelimit-policy']).toBeUndefined()
    const { body } = await request(example.url).get('/')
    expect(body).toEqual({ remaining: 19 })
  })

  test('it listens on loopback', async () => {
    expect(await isOpenToOthers(example.url)).toBe(false)
  })
})
