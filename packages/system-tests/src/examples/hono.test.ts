import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  awayFromEdge,
  isOpenToOthers,
  type Program,
  startExample,
} from '@sluice/test-harness/examples'
import { useRedis } from '@sluice/test-harness/jest'
import { until } from '@sluice/test-harness/redis'
import request from 'supertest'
import { folderOf } from './folder-of.ts'

const folder = folderOf('hono')

const redis = useRedis()

describe.each(['memory', 'Redis'])('with %s', (store) => {
  let example: Program

  beforeAll(async () => {
    example = await startExample(folder, store === 'Redis' ? { REDIS_URL: redis.server.url } : {})
  })
  afterAll(async () => {
    await example?.stop()
  })

  /** A stream of which the first event has come, or a refusal. */
  async function events(): Promise<IncomingMessage> {
    const [response] = await once(get(`${example.url}/events`, { agent: false }), 'response')
    if (response.statusCode === 200) await once(response, 'data')
    return response
  }

  test('logins have their own limit, health checks none', async () => {
    await awayFromEdge(15 * 60_000, 20_000)
    const logins: number[] = []
    for (let i = 0; i < 4; i += 1) logins.push((await request(example.url).post('/login')).status)
    expect(logins).toEqual([200, 200, 200, 429])
    const { headers } = await request(example.url).get('/health')
    expect(headers['ratelimit-policy']).toBeUndefined()
    const { body } = await request(example.url).get('/')
    expect(body).toEqual({ remaining: 19 })
  })

  test('two streams at the same time; a third when a client has left', async () => {
    const [first, second] = [await events(), await events()]
    const refused = await events()
    expect(refused.statusCode).toBe(429)
    expect(refused.headers['ratelimit-policy']).toContain('concurrent-requests')
    refused.resume()
    first.destroy()
    await until(
      async () => {
        const third = await events()
        third.destroy()
        return third.statusCode === 200
      },
      // The limit for all requests is 20 a minute.
      { everyMs: 1000, what: 'the slot is free' },
    )
    second.destroy()
  })

  test('it listens on loopback', async () => {
    expect(await isOpenToOthers(example.url)).toBe(false)
  })
})
