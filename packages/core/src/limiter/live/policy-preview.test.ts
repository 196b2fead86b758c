// What settings would do to the clients of applications, counted in a process that has none of their limiters.

import { describe, expect, it } from '@jest/globals'
import { patient } from '@sluice/test-harness/redis'
import { createLimiter } from '../../index.ts'
import { redisStore } from '../../stores/redis/redis-store.ts'
import { previewPolicy } from './policy-preview.ts'
import { API, ClientsOnRedis } from './testing/clients-on-redis.ts'

const clients = new ClientsOnRedis()

describe('a preview', () => {
  const preview = (settings: object, name = 'api') =>
    previewPolicy(clients.store, 'sluice', name, settings)

  it('counts who would be over, and changes nothing', async () => {
    await clients.counted({ ada: 10, bob: 6, eve: 5, mallory: 2 })
    expect(await preview({ limit: 6 })).toEqual({
      ...{ name: 'api', limit: 6, enforced: 1 },
      ...{ clients: 4, exhausted: 1, over: 2, refused: 2, unknown: 0, own: 0 },
    })
    expect(await preview({ limit: 6, dryRun: true })).toMatchObject({ over: 2, refused: 0 })
    expect(await clients.control.history()).toEqual([])
  })

  it('goes by what is set already', async () => {
    await clients.counted({ ada: 10, bob: 6 })
    await clients.control.set('api', { limit: 20 })
    expect(await preview({ dryRun: true })).toMatchObject({ limit: 20, over: 0, exhausted: 0 })
    expect(await preview({ limit: 6 })).toMatchObject({ over: 2, refused: 2 })
  })

  it('beneath what is set for a time is what a lasting one does: it ends that', async () => {
    await clients.counted({ ada: 10, bob: 6 })
    await clients.control.set('api', { limit: 50 }, { for: '1h' })
    const seen = await preview({ limit: 6 })
    expect(seen).toMatchObject({ limit: 6, over: 2 })
    await clients.control.set('api', { limit: 6 })
    expect(await clients.control.list()).toMatchObject([{ limit: seen.limit, until: undefined }])
  })

  it.each(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'leaky-bucket'])(
    'is what a client gets once it is set: %s',
    async (algorithm) => {
      await clients.counted({ ada: 8, bob: 3 }, { ...API, window: '30d', algorithm })
      const options = {
        ...patient,
        store: redisStore(clients.client),
        ...API,
        window: '30d',
        algorithm,
      }
      for (const limit of [1, 2, 3, 4, 8, 9]) {
        const { over } = await preview({ limit })
        await clients.control.set('api', { limit })
        const limiter = createLimiter({ ...options, limit } as never)
        const peeked = await Promise.all(['ada', 'bob'].map((key) => limiter.peek(key)))
        limiter.close()
        expect({ limit, over }).toEqual({
          limit,
          over: peeked.filter(({ remaining }) => remaining === 0).length,
        })
        await clients.control.unset('api')
      }
    },
  )

  it('refuses those of the share, as the application does', async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`client-${i}`, 8]))
    await clients.counted(many)
    const settings = { limit: 8, enforce: 0.1 }
    const { over, refused } = await preview(settings)
    await clients.control.set('api', settings)
    const limiter = createLimiter({
      ...patient,
      store: redisStore(clients.client),
      ...API,
    } as never)
    await limiter.policies.list()
    const decided = await Promise.all(Object.keys(many).map((key) => limiter.consume(key)))
    limiter.close()
    expect(over).toBe(200)
    expect(refused).toBe(decided.filter(({ allowed }) => !allowed).length)
    expect(refused).toBeGreaterThan(5)
  })

  it('leaves out who has a limit of their own, or can not be told', async () => {
    await clients.counted({ ada: 8, bob: 8, [`user ${'x'.repeat(500)}`]: 8, eve: 8 })
    const limiter = createLimiter({
      ...patient,
      store: redisStore(clients.client),
      ...API,
    } as never)
    await limiter.override('ada', { limit: 100 })
    await limiter.grant('eve', 5)
    await limiter.block('bob', '1h')
    limiter.close()
    expect(await preview({ limit: 5, enforce: 0.5 })).toMatchObject({
      ...{ clients: 4, own: 1, over: 1, unknown: 2 },
    })
  })

  it.each([
    [{ limit: 1e300 }, 'api', 'SLUICE_OPTION_RANGE'],
    [{ window: '1h' }, 'api', 'SLUICE_OPTION_UNKNOWN'],
    [{ limit: 1 }, 'nobody', 'SLUICE_POLICY_UNKNOWN'],
  ])('refuses what would be refused: %j of %s', async (settings, name, code) => {
    await clients.counted({ ada: 1 })
    await expect(preview(settings, name)).rejects.toMatchObject({ code })
  })
})
