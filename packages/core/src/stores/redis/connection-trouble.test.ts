import { afterEach, expect, jest, test } from '@jest/globals'
import { freePorts, until } from '@sluice/test-harness/redis'
import { Cluster, Redis } from 'ioredis'
import { createClient } from 'redis'
import { createLimiter } from '../../index.ts'
import type { RedisClient } from './client.ts'
import { connectionTrouble } from './connection-trouble.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  jest.restoreAllMocks()
})

async function clientOf(kind: string, port: number): Promise<RedisClient> {
  if (kind === 'node-redis') {
    const client = createClient({ url: `redis://:secret@127.0.0.1:${port}` })
    client.on('error', () => {})
    ends.push(() => client.destroy())
    void client.connect().catch(() => {})
    return client as unknown as RedisClient
  }
  const options = { password: 'secret' }
  const client =
    kind === 'ioredis'
      ? new Redis({ ...options, port })
      : new Cluster([{ host: '127.0.0.1', port }], { redisOptions: options })
  client.on('error', () => {})
  ends.push(() => client.disconnect())
  return client as unknown as RedisClient
}

test.each([
  ['ioredis', /no answer within 100 ms: not connected to localhost:\d+ \(\w+\): .*ECONNREFUSED/],
  ['a cluster of ioredis', /no answer within 100 ms: not connected \(\w+\)/],
  ['node-redis', /no answer within 100 ms: not connected to 127\.0\.0\.1:\d+/],
])('where nothing listens at start, the warning says where, and why: %s', async (kind, said) => {
  const warned: string[] = []
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((text: string) => warned.push(text)) as never)
  const [port] = (await freePorts(1)) as [number]
  const store = await clientOf(kind, port)
  const limiter = createLimiter({ store, limit: 5, window: '1m' })
  ends.push(() => limiter.close())
  await until(
    async () => {
      await limiter.consume('ada')
      return warned.some((text) => text.startsWith('The store failed'))
    },
    { what: 'the store is given up' },
  )
  expect(warned.find((text) => text.startsWith('The store failed'))).toMatch(said)
  expect(warned.join()).not.toContain('secret')
  const blocked = limiter.block('ada', '1h') as Promise<void>
  await expect(blocked).rejects.toThrow(/not connected/)
})

test.each<[string, object, string | undefined]>([
  ['ready', { evalsha() {}, status: 'ready', options: {} }, undefined],
  [
    'a socket',
    { evalsha() {}, status: 'wait', options: { path: '/a/b' } },
    'not connected to /a/b (wait)',
  ],
  ['ready', { evalSha() {}, isReady: true }, undefined],
  ['of unknown options', { evalSha() {}, isReady: false }, 'not connected'],
  ['of another kind', { customCommand() {} }, undefined],
  ['over HTTP', { createScript() {}, eval() {} }, undefined],
])('%s', (_, client, said) => {
  expect(connectionTrouble(client as RedisClient)).toBe(said)
})
