// What Redis refuses to do rejects with its own words, and nothing of the request is charged.

import { expect, test } from '@jest/globals'
import { patient } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type PolicyOptions } from '../../index.ts'
import { useExpiringRedis } from './testing/ttl.ts'
import { unguarded } from './testing/unguarded.ts'

const redis = useExpiringRedis()

const policies = [
  { name: 'first', limit: 10, window: '1d' },
  { name: 'log', limit: 10, window: '1d', algorithm: 'sliding-log' },
  { name: 'last', limit: 10, window: '1d', algorithm: 'token-bucket' },
] as const

const remaining = async (limiter: ReturnType<typeof limiterOf>, key: string) =>
  (await limiter.peek(key)).policies.map((policy) => policy.remaining)
const limiterOf = (prefix: string) =>
  createLimiter({ store: unguarded(redis.client), policies, prefix })

test.each(['first', 'log', 'last'])('a key of another type, of the policy %s', async (name) => {
  const limiter = limiterOf(`type-${name}`)
  const [key] = await keyOf(limiter, `type-${name}`, name)
  await redis.server.command('DEL', key!)
  await redis.server.command('RPUSH', key!, 'value')
  await redis.server.command('PEXPIRE', key!, 3_600_000)
  const acts: (() => Promise<unknown>)[] = [
    () => limiter.consume('client'),
    () => limiter.peek('client'),
    () => limiter.settle('client', 1),
  ]
  for (const act of acts) await expect(act()).rejects.toThrow(/WRONGTYPE/)
  await redis.server.command('DEL', key!)
  const rest = policies.map((policy) => (policy.name === name ? 10 : 9))
  expect(await remaining(limiter, 'client')).toEqual(rest)
})

test.each(['list', 'foreign text'])(
  'a key that holds a %s fails its own request, not its batch',
  async (kind) => {
    const prefix = `batch-${kind.length}`
    // It refuses nothing, also behind a request that has failed.
    const dry = { name: 'dry', limit: 1, window: '1h', dryRun: true } as const
    const limiter = denying(prefix, [...policies, dry])
    const [key] = await keyOf(limiter, prefix, 'log')
    await redis.server.command('DEL', key!)
    if (kind === 'list') await redis.server.command('RPUSH', key!, 'value')
    else await redis.server.command('SET', key!, 'text')
    await redis.server.command('PEXPIRE', key!, 3_600_000)
    const keys = ['before', 'client', 'before', 'client', 'after']
    const turn = await Promise.all(keys.map((each) => limiter.consume(each)))
    expect(turn.map(({ source }) => source)).toEqual(['store', 'deny', 'store', 'deny', 'store'])
    expect(await remaining(limiter, 'before')).toEqual([8, 8, 8, 0])
    expect(await remaining(limiter, 'after')).toEqual([9, 9, 9, 0])
    await redis.server.command('DEL', key!)
    expect(await remaining(limiter, 'client')).toEqual([9, 10, 9, 0])
  },
)

test.each(['first', 'last'])(
  'a key of another type, of the policy %s, fails its own request, not those beside it',
  async (name) => {
    const prefix = `alike-${name}`
    const limiter = denying(
      prefix,
      policies.filter((policy) => policy.name !== 'log'),
    )
    const [key] = await keyOf(limiter, prefix, name)
    await redis.server.command('DEL', key!)
    await redis.server.command('RPUSH', key!, 'value')
    await redis.server.command('PEXPIRE', key!, 3_600_000)
    await limiter.block('blocked', '1h')
    const keys = ['before', 'client', 'blocked', 'after']
    const turn = await Promise.all(keys.map((each) => limiter.consume(each)))
    expect(turn.map(({ source }) => source)).toEqual(['store', 'deny', 'store', 'store'])
    expect(turn.map(({ allowed }) => allowed)).toEqual([true, false, false, true])
    expect(await remaining(limiter, 'before')).toEqual([9, 9])
    expect(await remaining(limiter, 'after')).toEqual([9, 9])
    await redis.server.command('DEL', key!)
    expect(await remaining(limiter, 'client')).toEqual(name === 'first' ? [10, 9] : [9, 10])
  },
)

test('a key of another type bans nobody', async () => {
  const prefix = 'no-ban'
  const ban = { after: 1, within: '1h', for: ['1h'] } as const
  const limiter = createLimiter({
    ...patient,
    store: redis.client,
    limit: 10,
    window: '1d',
    prefix,
    ban,
    onStoreError: 'deny',
  })
  const [key] = await keyOf(limiter, prefix, 'default')
  await redis.server.command('DEL', key!)
  await redis.server.command('RPUSH', key!, 'value')
  expect((await limiter.consume('client')).source).toBe('deny')
  await redis.server.command('DEL', key!)
  expect((await limiter.consume('client')).allowed).toBe(true)
})

/** Answers with a refusal where the store gives no decision. */
function denying(prefix: string, own: readonly PolicyOptions[]) {
  return createLimiter({
    ...patient,
    store: redis.client,
    policies: own,
    prefix,
    onStoreError: 'deny',
  })
}

async function keyOf(limiter: ReturnType<typeof limiterOf>, prefix: string, name: string) {
  await limiter.consume('client')
  return (await redis.server.command('KEYS', `${prefix}:{client}:*:${name}`)) as string[]
}

test('no memory left', async () => {
  const limiter = limiterOf('memory')
  await limiter.consume('client')
  await redis.server.command('CONFIG', 'SET', 'maxmemory', '1')
  await expect(limiter.consume('client')).rejects.toThrow(/OOM/)
  await expect(limiter.consume('new client')).rejects.toThrow(/OOM/)
  await redis.server.command('CONFIG', 'SET', 'maxmemory', '0')
  expect(await remaining(limiter, 'client')).toEqual([9, 9, 9])
  expect(await remaining(limiter, 'new client')).toEqual([10, 10, 10])
})

test('a user who may run no scripts', async () => {
  await redis.server.command(
    'ACL',
    'SETUSER',
    'poor',
    'on',
    '>secret',
    '~*',
    '+@all',
    '-@scripting',
  )
  const poor = new Redis(redis.server.url, { username: 'poor', password: 'secret' })
  const limiter = createLimiter({ store: unguarded(poor), policies })
  await expect(limiter.consume('client')).rejects.toThrow(/NOPERM/)
  poor.disconnect()
})

test('a wrong password', async () => {
  await redis.server.command('ACL', 'SETUSER', 'known', 'on', '>secret', '~*', '+@all')
  const stranger = new Redis(redis.server.url, {
    username: 'known',
    password: 'wrong',
    retryStrategy: () => null,
  })
  stranger.on('error', () => {})
  const limiter = createLimiter({ store: unguarded(stranger), policies })
  await expect(limiter.consume('client')).rejects.toThrow(/WRONGPASS|NOAUTH|closed/)
  stranger.disconnect()
})

test('a client that has been closed', async () => {
  const closed = new Redis(redis.server.url)
  await closed.quit()
  const limiter = createLimiter({ store: unguarded(closed), policies })
  await expect(limiter.consume('client')).rejects.toThrow(/closed/)
})
