// Who is refused by live policies, counted in a process that has none of their limiters.

import { expect, it } from '@jest/globals'
import { loadPolicyChanges } from '../../operator.ts'
import { API, ClientsOnRedis } from './testing/clients-on-redis.ts'

const clients = new ClientsOnRedis()

const set = (settings: object) => clients.control.set('api', settings)

async function countedClients(): Promise<Record<string, unknown>> {
  const { PolicyClientCounter } = await loadPolicyChanges()
  const counter = await PolicyClientCounter.of(clients.documents)
  for await (const entry of clients.store.inspect()) counter.add(entry)
  return JSON.parse(JSON.stringify(Object.fromEntries(counter.clients)))
}

it('who has nothing left is refused, and in a dry run would be', async () => {
  await clients.counted({ ada: 10, bob: 9, eve: 3 })
  await clients.counted({ ada: 5 }, { ...API, name: 'other', window: '2h' })
  await clients.counted({ ada: 10 }, { ...API, live: undefined, window: '1m' })
  const api = { counted: 3, refused: 1, wouldRefuse: 0, unknown: 0, own: 0 }
  expect(await countedClients()).toEqual({ api, other: { ...api, counted: 1, refused: 0 } })
})

it('goes by what is set, and leaves out who is blocked', async () => {
  // The store has the last key as a digest: in a dry run, nobody is refused.
  const long = 'x'.repeat(200)
  const limiter = await clients.counted({ ada: 10, bob: 9, eve: 3, [long]: 3 })
  await set({ limit: 3, dryRun: true })
  const api = { refused: 0, unknown: 0, own: 0 }
  expect(await countedClients()).toEqual({ api: { ...api, counted: 4, wouldRefuse: 4 } })
  await limiter.block('bob', '1h')
  await limiter.override('eve', { limit: 7 })
  await limiter.grant('ada', 1)
  expect(await countedClients()).toEqual({ api: { ...api, counted: 3, wouldRefuse: 2, own: 2 } })
})

it('with a share, those that are in it, as far as their keys are known', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `client-${i}`)
  const long = 'x'.repeat(200)
  const limiter = await clients.counted(
    Object.fromEntries([...names, long].map((name) => [name, 10])),
  )
  const refused = []
  const { policies } = limiter
  // The process takes it over.
  await policies.set('api', { enforce: 0.5 })
  for (const name of names) if (!(await limiter.peek(name)).allowed) refused.push(name)
  expect(refused.length).toBeGreaterThan(2)
  expect(await countedClients()).toMatchObject({
    api: { counted: 21, refused: refused.length, wouldRefuse: 20 - refused.length, unknown: 1 },
  })
})
