import type { EventEmitter } from 'node:events'
import { describe, expect, jest, test } from '@jest/globals'
import { Redis } from 'ioredis'
// @ts-expect-error: its types are another package.
import RedisMock from 'ioredis-mock'
import * as iovalkey from 'iovalkey'
import * as redis6 from 'redis'
import * as redis4 from 'redis4'
import * as redis5 from 'redis5'
import { createLimiter, type RedisClient, redisStore } from '../../index.ts'
import { checkClient, isRedisClient } from './client.ts'

const command = async () => []
const nodeRedis = {
  evalSha: command,
  eval: command,
  withTypeMapping: () => nodeRedis,
  isOpen: true,
}

describe('a client', () => {
  test.each([
    ['ioredis', { evalsha: command, evalshaBuffer: command, eval: command, status: 'ready' }],
    [
      'ioredis, whose method `client` is a command',
      { evalsha: command, evalshaBuffer: command, eval: command, status: 'wait', client: command },
    ],
    ['node-redis', nodeRedis],
    ['valkey-glide', { customCommand: command, invokeScript: command }],
    ['@upstash/redis', { evalsha: command, eval: command, createScript: command }],
    ["Bun's", { send: command, connected: false, onclose: null, eval: command, evalsha: command }],
    ['node-redis, not connected yet', { ...nodeRedis, isOpen: false }],
  ])('is recognized by its methods: %s', (_, client) => {
    expect(checkClient('store', client)).toBe(client)
  })

  test.each([
    undefined,
    null,
    'redis://localhost',
    {},
    { eval: command },
    { evalsha: command },
    // A pipeline.
    { evalsha: command, eval: command },
    { client: { evalsha: command, eval: command } },
    // A process.
    { send: command, connected: true },
    // A batch of valkey-glide.
    { customCommand: command },
    // The callback interface of node-redis.
    { evalSha: command, eval: command },
  ])('is not %p', (value) => {
    expect(isRedisClient(value)).toBe(false)
    expect(() => checkClient('store', value)).toThrow(/ioredis.*node-redis/)
  })

  test.each([
    ['a client of node-redis 4', redis4.createClient(), /^Install version 5 or 6 .* node-redis 4/],
    [
      'a cluster',
      redis4.createCluster({ rootNodes: [] }),
      /^Install version 5 or 6 .* node-redis 4/,
    ],
    ['ioredis-mock', new RedisMock(), /memoryStore\(\).*ioredis-mock lacks struct/],
    ['a promise of a client', Promise.resolve(redis4.createClient()), /^Await it/],
    [
      'a client of postgres.js',
      Object.assign(() => {}, { unsafe: command }),
      /^Write postgresStore/,
    ],
    [
      'a store of express-rate-limit',
      { increment: command, decrement: command, resetKey: command },
      /^Pass the client .* of another limiter/,
    ],
  ])('that many have but Sluice cannot use says what to use instead: %s', (_, client, fix) => {
    for (const call of [
      () => createLimiter({ store: client as never, limit: 5, window: '1m' }),
      () => redisStore(client as never),
    ]) {
      expect(call).toThrow(
        expect.objectContaining({ code: 'SLUICE_STORE_UNKNOWN', fix: expect.stringMatching(fix) }),
      )
    }
  })
})

describe("a client of node-redis without an 'error' listener", () => {
  const url = 'redis://127.0.0.1:1'
  const rootNodes = [{ url }]
  const sentinel = { name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }
  const all: [string, () => RedisClient & EventEmitter][] = [
    redis6,
    redis5 as unknown as typeof redis6,
  ].flatMap((redis, i) => [
    [`client of ${6 - i}`, () => redis.createClient({ url }) as never],
    [
      `client with a timeout of ${6 - i}`,
      () => redis.createClient({ url }).withCommandOptions({}) as never,
    ],
    [`pool of ${6 - i}`, () => redis.createClientPool({ url }) as never],
    [`cluster of ${6 - i}`, () => redis.createCluster({ rootNodes }) as never],
    [`sentinel of ${6 - i}`, () => redis.createSentinel(sentinel) as never],
  ])
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const isolated = () => {
    let core!: typeof import('../../index.ts')
    // Each warning comes once in a process.
    jest.isolateModules(() => {
      core = require('../../index.ts')
    })
    return core
  }
  const unguarded = expect.objectContaining({ code: 'SLUICE_CLIENT_UNGUARDED' })

  test.each(all)('would end the process, so Sluice warns once: a %s', (_, create) => {
    const { createLimiter, redisStore } = isolated()
    const client = create()
    warned.mockClear()
    createLimiter({ store: client, limit: 5, window: '1m' }).close()
    redisStore(client)
    expect(warned.mock.calls).toEqual([[expect.stringContaining("client.on('error', "), unguarded]])
  })

  test.each(all)('is not a %s that has one', (_, create) => {
    const client = create()
    client.on('error', () => {})
    warned.mockClear()
    isolated().redisStore(client)
    expect(warned).not.toHaveBeenCalled()
  })

  test.each([Redis, iovalkey.Redis as unknown as typeof Redis])(
    'is none of another make',
    (Make) => {
      const client = new Make({ lazyConnect: true })
      warned.mockClear()
      isolated().redisStore(client as never)
      expect(warned).not.toHaveBeenCalled()
    },
  )
})
