import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type InspectProgress, redisStore, type StoreEntry } from '../../index.ts'
import { ofIoRedis } from './testing/every-client.ts'

let redis: RedisServer
let client: Redis
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.url)
  ofIoRedis(client)
})
afterAll(() => redis.stop())
beforeEach(() => client.flushall())

async function entriesOf(source: Redis, options = {}): Promise<StoreEntry[]> {
  const entries = []
  for await (const entry of redisStore(source).inspect(options)) entries.push(entry)
  return entries
}

const limiterOf = () =>
  createLimiter({
    ...patient,
    store: client,
    policies: [
      { name: 'log', limit: 10, window: '1d', algorithm: 'sliding-log' },
      { name: 'day', limit: 100, window: '1d' },
    ],
    ban: { after: 5, within: '1d', for: ['1h'] },
  })

test('what is needed to read: no command that writes', async () => {
  await limiterOf().consume('client')
  // The keys of a route have their own namespace.
  await createLimiter({
    ...patient,
    store: client,
    prefix: 'sluice.1a2b3c4d',
    limit: 5,
    window: '1d',
  }).consume('client')
  const commands = ['eval', 'evalsha', 'time', 'get', 'mget', 'exists', 'getrange', 'scan', 'info']
  const allowed = commands.map((name) => `+${name}`)
  await client.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~sluice[.:]*', ...allowed)
  const reader = new Redis(redis.url, { username: 'reader', password: 'secret' })
  ofIoRedis(reader)
  const found = await entriesOf(reader)
  expect(found.map(({ policy, used }) => [policy, used]).sort()).toEqual([
    ['day', 1],
    ['default', 1],
    ['log', 1],
  ])
})

test('without the permission to scan, the error says what to do', async () => {
  await client.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '~sluice:*', '+@all', '-scan')
  const blind = new Redis(redis.url, { username: 'blind', password: 'secret' })
  ofIoRedis(blind)
  await expect(entriesOf(blind)).rejects.toThrow(
    expect.objectContaining({ code: 'SLUICE_REDIS_FORBIDDEN' }),
  )
})

test('what others keep under such names is passed over', async () => {
  await limiterOf().consume('client')
  const name = 'sliding-window:60000:default'
  await client.set(`sluice:{text}:${name}`, 'no state of any')
  await client.lpush(`sluice:{list}:${name}`, 'no state')
  await client.set('sluice:{client}:p0', Buffer.alloc(32))
  await client.set(`sluice:{\u001b[2J}:${name}`, Buffer.alloc(32))
  await client.set(`sluice:{a b}:${name}`, Buffer.alloc(32))
  await client.set(`sluice:{}:${name}`, Buffer.alloc(32))
  await client.set(`sluice:{a}{b}{c}:${name}`, Buffer.alloc(32))
  await client.set(`sluice:{a}:${name}\n`, Buffer.alloc(32))
  await client.set(`sluice.0123456:{a}:${name}`, Buffer.alloc(32))
  const found = await entriesOf(client)
  expect(new Set(found.map(({ key }) => key))).toEqual(new Set(['client']))
})

test('a state at which the script fails leaves out no other', async () => {
  const log = createLimiter({
    ...patient,
    store: client,
    limit: 10,
    window: '1d',
    algorithm: 'sliding-log',
  })
  for (const keys of [['a'], ['b'], ['c', 'd']]) {
    for (const key of [...keys, 'broken']) await log.consume(key)
    const [name] = (await client.keys('sluice:{broken}*')) as [string]
    // The state says that there are entries.
    await client.set(name, (await client.getBuffer(name))!.subarray(0, 40))
    const unreadable: string[] = []
    const found = await entriesOf(client, {
      onProgress: (progress: InspectProgress) => unreadable.push(...progress.unreadable),
    })
    expect([found.map(({ key }) => key).sort(), unreadable]).toEqual([keys, [name]])
    await client.flushall()
  }
})

test('every key comes, however many there are', async () => {
  const limiter = limiterOf()
  const keys = Array.from({ length: 2500 }, (_, i) => `user:${i}`)
  await Promise.all(keys.map((key) => limiter.consume(key)))
  await Promise.all(Array.from({ length: 500 }, (_, i) => client.set(`cache:${i}`, i)))
  const found = await entriesOf(client, { policy: 'day' })
  expect(new Set(found.map(({ key }) => key))).toEqual(new Set(keys))
})

test('a break ends the reading', async () => {
  const limiter = limiterOf()
  await Promise.all(Array.from({ length: 1500 }, (_, i) => limiter.consume(`user:${i}`)))
  await client.config('RESETSTAT')
  for await (const { used } of redisStore(client).inspect()) {
    expect(used).toBe(1)
    break
  }
  expect((await redis.commandStats()).scan?.calls).toBe(1)
})
