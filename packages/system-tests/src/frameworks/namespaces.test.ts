// The keys of every limiter that an adapter makes are those that the tools for operators find.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { InspectableStore } from '@sluice/core'
import { redisStore } from '@sluice/core'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { limitFetch } from '@sluice/hono'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import express from 'express'
import fastify from 'fastify'
import { Redis } from 'ioredis'
import request from 'supertest'

let redis: RedisServer
let client: Redis
let store: InspectableStore<'async'>
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
  store = redisStore(client)
})
afterAll(async () => {
  client?.disconnect()
  await redis?.stop()
})

const limit = (amount: number) =>
  ({ ...patient, store: client, limit: amount, window: '1d' }) as const
const ban = { after: 1, within: '1d', for: ['1d'] } as const

/** The suffixes of all keys in Redis, of those that are listed, and of those that are there after a reset. */
async function namespaces(key: string) {
  const suffixes = (names: readonly string[]) =>
    [...new Set(names.map((name) => /^sluice(.*):\{/.exec(name)?.[1]))].sort()
  // Not the terms of the limits.
  const states = () => client.keys('*{[^#]*')
  const all = suffixes(await states())
  const entries = []
  for await (const entry of store.inspect({ key })) entries.push(entry)
  const found = suffixes(entries.map(({ prefix }) => `${prefix}:{`))
  for (const { prefix, keyspace } of entries)
    await store.open([keyspace], prefix).change({ kind: 'reset', key })
  const left = suffixes(await states())
  return { all, found, left }
}

test('Fastify: further registrations, contexts, hooks and routes', async () => {
  const app = fastify({ forceCloseConnections: true })
  await app.register(fastifyLimit, { ...limit(100), ban })
  await app.register(fastifyLimit, limit(50))
  const own = { config: { rateLimit: { limit: 5, window: '1h' } } } as const
  app.get('/', async () => 'ok')
  app.get('/own', own, async () => 'ok')
  await app.register(async (inner) => {
    await inner.register(fastifyLimit, { ...limit(1), ban })
    inner.get('/inner', async () => 'ok')
    inner.get('/inner/own', own, async () => 'ok')
    inner.get(
      '/hook',
      { preHandler: inner.rateLimit.hook({ limit: 3, window: '1h' }) },
      async () => 'ok',
    )
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  for (const path of ['/', '/own', '/inner/own', '/hook', '/inner', '/inner', '/inner'])
    await (await fetch(origin + path)).arrayBuffer()
  await app.close()
  const { all, found, left } = await namespaces('127.0.0.1')
  // Two limiters, and routes of each; the third one, its routes and its hook.
  const HEX = '[\\da-f]{8}'
  for (const form of ['', '\\.2', '\\.3', `\\.${HEX}`, `\\.2\\.${HEX}`, `\\.3\\.${HEX}`])
    expect(all).toContainEqual(expect.stringMatching(`^${form}$`))
  expect([found, left]).toEqual([all, []])
})

test('Express, and everything else with routes', async () => {
  const app = express()
  app.use(expressLimit({ ...limit(100), ban, routes: { 'GET /own': { limit: 5, window: '1h' } } }))
  for (const path of ['/', '/own']) await request(app).get(path)
  const { all, found, left } = await namespaces('127.0.0.1')
  expect([all.length, found, left]).toEqual([2, all, []])
})

test('the Fetch API', async () => {
  const options = {
    ...limit(100),
    key: () => 'client',
    routes: { '/own': { limit: 5, window: '1h' } },
  } as const
  const limited = limitFetch(options, () => new Response())
  for (const path of ['/', '/own']) await limited(new Request(`http://host${path}`))
  const { all, found, left } = await namespaces('key:client')
  expect([all.length, found, left]).toEqual([2, all, []])
})
