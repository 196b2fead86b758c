// How the policies of applications are listed in a process that has none of their limiters.

import { describe, expect, it } from '@jest/globals'
import { createLimiter } from '../../index.ts'
import { API, ClientsOnRedis } from './testing/clients-on-redis.ts'

const clients = new ClientsOnRedis()

describe('list', () => {
  it('has the limit of the window that applications have now', async () => {
    await clients.counted({ ada: 1 }, { ...API, limit: 5, window: '1s' })
    await clients.counted({ ada: 1 }, { ...API, window: '1m' })
    expect(await clients.control.list()).toMatchObject([
      { name: 'api', windowMs: 60_000, limit: 10 },
    ])
  })

  it.each([
    [{ dryRun: true }, 0],
    [{ enforce: 1e-7 }, 1e-7],
    [{}, 1],
  ])('says whom a policy refuses by its code: %j', async (options, enforced) => {
    const { name, ...api } = API
    await clients.counted({ ada: 1 }, { name, policies: [{ name: 'default', ...api, ...options }] })
    expect(await clients.control.list()).toMatchObject([{ name: 'api', enforced, limit: 10 }])
    await clients.control.set('api', { enforce: 0.5 })
    expect(await clients.control.list()).toMatchObject([{ enforced: 0.5, problem: undefined }])
  })

  it('goes by the code of its own process, whatever other versions of the application have', async () => {
    await clients.counted({ ada: 1 })
    const { policies } = await clients.counted({ bob: 1 }, { ...API, window: '1m', limit: 5 })
    const own = createLimiter({ ...API, limit: 7, window: '5m', store: clients.store })
    expect(await own.policies.list()).toMatchObject([{ codeLimit: 7, windowMs: 300_000 }])
    expect(await policies.list()).toMatchObject([{ codeLimit: 5, windowMs: 60_000 }])
    own.close()
  })

  it('has a policy whose name every object has', async () => {
    await clients.counted({ ada: 1 }, { ...API, name: 'constructor' })
    await clients.counted({ ada: 1 }, { ...API, name: '__proto__', window: '1m' })
    expect(await clients.control.list()).toMatchObject([
      { name: '__proto__', settings: undefined },
      { name: 'constructor', settings: undefined },
    ])
    await clients.control.set('__proto__', { limit: 7 })
    await clients.control.apply({ constructor: { limit: 8 } })
    expect(await clients.control.list()).toMatchObject([{ limit: 10 }, { limit: 8 }])
    await clients.control.rollback()
    expect(await clients.control.list()).toMatchObject([{ limit: 7 }, { limit: 10 }])
  })

  it('passes over keyspaces whose name of a policy can not be read', async () => {
    await clients.counted({ ada: 1 })
    const key = 'sluice:{#}:keyspaces'
    const text = (await clients.client.get(key)) as string
    await clients.client.set(
      key,
      `${text}\n${Date.now() + 1e6} sluice 5;live=%E0,0,9 fixed-window:1000:x`,
    )
    expect(await clients.control.list()).toMatchObject([{ name: 'api' }])
    for await (const entry of clients.store.inspect()) expect(entry.limit).toBe(10)
  })

  it.each([
    ['no document', 'nothing'],
    ['another form', `${'a'.repeat(16)}\n{"form":9,"policies":{},"history":[]}`],
    ['10 MB', `${'a'.repeat(16)}\n{"form":1,"filler":"${'x'.repeat(1e7)}"}`],
  ])('says why a document is ignored, and a change replaces it: %s', async (_, text) => {
    await clients.counted({ ada: 1 })
    await clients.client.set('sluice:{#}:policies', text)
    const [state] = await clients.control.list()
    expect(state).toMatchObject({ limit: 10, problem: expect.stringMatching(/^it(s| )/) })
    await clients.control.set('api', { limit: 20 })
    expect(await clients.control.list()).toMatchObject([{ limit: 20, problem: undefined }])
  })

  it('has no changes that are none', async () => {
    await clients.counted({ ada: 1 })
    await clients.control.set('api', { limit: 20 })
    const key = 'sluice:{#}:policies'
    const [version, json = ''] = ((await clients.client.get(key)) as string).split('\n')
    const document = JSON.parse(json)
    const [good] = document.history
    document.history = [
      ...[{ at: 8.64e15 + 1 }, { by: 7 }, { before: { api: 5 } }, { after: undefined }].map(
        (wrong) => ({ ...good, ...wrong }),
      ),
      good,
    ]
    await clients.client.set(key, `${version}\n${JSON.stringify(document)}`)
    expect(await clients.control.history()).toEqual([good])
  })
})
