import { describe, expect, test } from '@jest/globals'
import { checkClient, isRedisClient } from './client.ts'

const command = async () => []

describe('a client', () => {
  test.each([
    ['ioredis', { evalsha: command, evalshaBuffer: command, eval: command, status: 'ready' }],
    [
      'ioredis, whose method `client` is a command',
      { evalsha: command, evalshaBuffer: command, eval: command, status: 'wait', client: command },
    ],
    ['node-redis', { evalSha: command, eval: command, isOpen: true }],
    ['valkey-glide', { customCommand: command, invokeScript: command }],
    ['node-redis, not connected yet', { evalSha: command, eval: command, isOpen: false }],
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
    // @upstash/redis, and pipelines.
    { evalsha: command, eval: command },
    { client: { evalsha: command, eval: command } },
    // A batch of valkey-glide.
    { customCommand: command },
    // The callback interface of node-redis.
    { evalSha: command, eval: command },
  ])('is not %p', (value) => {
    expect(isRedisClient(value)).toBe(false)
    expect(() => checkClient('store', value)).toThrow(/ioredis.*node-redis/)
  })
})
