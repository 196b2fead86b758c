// Live policies on a real Redis: who may write them, and what else may be in their place.

import { afterEach, describe, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { patient, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, type Limiter, type RedisClient, redisStore } from '../../index.ts'

const API = { name: 'api', limit: 5, window: '1h', algorithm: 'fixed-window', live: true } as const

const ends: (() => unknown)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** A limiter of a process of its own. */
function limiterOn(client: RedisClient, options: object = {}): Limiter<'async'> {
  const store = redisStore(client)
  const limiter = createLimiter({ ...patient, ...API, store, ...options } as never)
  ends.push(() => (limiter as Limiter).close())
  return limiter as unknown as Limiter<'async'>
}

const limitOf = async (limiter: Limiter<'async'>) => (await limiter.peek('ada')).limit

describe('on one Redis', () => {
  const redis = useRedis()
  afterEach(() => redis.server.command('FLUSHALL'))

  test('no client has a key that is a document, however its own key is written', async () => {
    const keys = ['#', '{#}', '#:policies', '{#}:policies', '}{#', '#}:policies{', ':{#}:policies']
    const policies = [
      { name: 'policies', limit: 5, window: '1h' },
      { name: 'log', limit: 5, window: '1h', algorithm: 'sliding-log' },
      { name: 'slots', concurrent: 5 },
    ]
    const none = { limit: undefined, window: undefined, algorithm: undefined, live: undefined }
    const limiter = limiterOn(redis.client, { ...none, policies })
    for (const key of keys) {
      await limiter.acquire(key)
      await limiter.block(key, '1h')
    }
    await until(async () => (await redis.client.exists('sluice:{#}:keyspaces')) === 1, {
      what: 'it is there',
    })
    const documents = (await redis.client.keys('*')).filter((key) => key.includes('{#}'))
    expect(documents).toEqual(['sluice:{#}:keyspaces'])
  })

  test('who may write the keys of a client alone can not write settings', async () => {
    await redis.client.acl(
      'SETUSER',
      'one',
      'on',
      '>pw',
      '+@all',
      '~sluice:{user}*',
      '~sluice:*:{user}*',
    )
    const one = new Redis(redis.server.port, redis.server.host, { username: 'one', password: 'pw' })
    ends.push(() => one.disconnect())
    const limiter = limiterOn(redis.client)
    await limiter.policies.set('api', { limit: 7 })
    await expect(one.set('sluice:{#}:policies', 'x')).rejects.toThrow('NOPERM')
    await expect(one.del('sluice:{#}:policies')).rejects.toThrow('NOPERM')
    const theirs = limiterOn(one)
    expect(await theirs.consume('user')).toMatchObject({ allowed: true, source: 'store' })
    await expect(theirs.policies.set('api', { limit: 9 })).rejects.toMatchObject({
      code: 'SLUICE_REDIS_FORBIDDEN',
    })
    // Who may not read the document has the limits of the code.
    expect((await theirs.peek('user')).limit).toBe(5)
    expect(await limitOf(limiter)).toBe(7)
  })

  test('a change that is refused holds up none behind it', async () => {
    const { policies } = limiterOn(redis.client)
    const made = await Promise.allSettled([
      policies.set('api', { limit: -1 }),
      policies.set('api', { limit: 6 }),
      policies.set('none', { limit: 7 }),
      policies.set('api', { limit: 8 }, { seen: 5 }),
      policies.set('api', { limit: 9 }),
    ])
    expect(made.map(({ status }) => status === 'fulfilled')).toEqual([
      false,
      true,
      false,
      false,
      true,
    ])
    expect((await policies.list())[0]).toMatchObject({ limit: 9 })
  })

  test('changes of one turn come in their order, also if the first answer of the store is late', async () => {
    const store = redisStore(redis.client)
    const documents = store.documents as NonNullable<typeof store.documents>
    const late = { isAwaited: true }
    const read: typeof documents.read = async (prefix, name, version) => {
      if (name === 'keyspaces' && late.isAwaited) {
        late.isAwaited = false
        // So many answers later, changes that did not wait for it would have been made.
        for (let i = 0; i < 100; i += 1) await redis.client.ping()
      }
      return documents.read(prefix, name, version)
    }
    const { policies } = limiterOn(redis.client, {
      store: { ...store, documents: { ...documents, read } },
    })
    const first = policies.set('api', { limit: 6 })
    const others = [
      policies.set('api', { limit: 7 }),
      policies.apply({ api: { limit: 8 } }),
      policies.unset('api'),
      policies.set('api', { limit: 9 }),
      policies.rollback(),
    ]
    const made = await Promise.all([first, ...others])
    expect(made.map(({ number, action }) => `${number} ${action}`)).toEqual([
      '1 set',
      '2 set',
      '3 apply',
      '4 unset',
      '5 set',
      '6 rollback',
    ])
    expect((await policies.list())[0]).toMatchObject({ limit: 5 })
  })

  test.each([
    ['hset', ['a', 'b']],
    ['set', [Buffer.from([0xff, 0xfe, 0x00]).toString('latin1')]],
    ['set', ['b'.repeat(10_000_000)]],
  ] as const)(
    'a key of something else in its place switches no limit off: %s',
    async (command, args) => {
      const limiter = limiterOn(redis.client)
      await limiter.policies.set('api', { limit: 7 })
      await redis.client.del('sluice:{#}:policies')
      await redis.client.call(command, 'sluice:{#}:policies', ...args)
      const late = limiterOn(redis.client)
      for (let i = 0; i < 5; i += 1) expect((await late.consume('ada')).allowed).toBe(true)
      expect((await late.consume('ada')).allowed).toBe(false)
    },
  )
})
