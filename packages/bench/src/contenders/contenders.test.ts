// What is measured is what the tables say: every contender counts, and every server answers.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { frameworks } from './frameworks.ts'
import type { HttpContenders } from './http.ts'
import { memoryContenders } from './memory.ts'
import { redisContenders } from './redis.ts'
import { BODY } from './terms.ts'

let redis: RedisServer
let client: Redis
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
})
afterAll(async () => {
  client.disconnect()
  await redis.stop()
})

it.each(Object.keys(memoryContenders))('%s counts in memory', async (name) => {
  const count = memoryContenders[name]!()
  for (const key of ['a', 'b', 'a']) expect(await count(key)).toBeGreaterThanOrEqual(0)
})

it.each(Object.keys(redisContenders))('%s counts on Redis', async (name) => {
  await redis.command('FLUSHALL')
  const decide = redisContenders[name]!(client)
  for (const key of ['a', 'b', 'a']) expect(await decide(key)).toBeGreaterThanOrEqual(0)
  expect(await client.dbsize()).toBeGreaterThanOrEqual(2)
})

describe.each(Object.entries(frameworks))('%s', (_, contenders: HttpContenders) => {
  it.each(Object.keys(contenders))('%s answers', async (name) => {
    const server = await contenders[name]!()
    if (!server.listening) await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/`)
    expect(await response.json()).toEqual(BODY)
    const fields = [...response.headers.keys()].filter((field) => field.includes('ratelimit'))
    expect(fields.length > 0).toBe(name !== 'bare' && !name.endsWith('no headers'))
    server.close()
    server.closeAllConnections()
  })
})
