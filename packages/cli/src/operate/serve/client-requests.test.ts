import { expect, it } from '@jest/globals'
import { createLimiter, memoryStore } from '@sluice/core'
import { clientRequests } from './client-requests.ts'

it('a page that shows one policy changes a client in no other', async () => {
  const store = memoryStore()
  const terms = { limit: 5, window: '1d' } as const
  const policies = ['one', 'other'].map((name) => ({ ...terms, name }))
  const limiter = createLimiter({ store, policies })
  limiter.consume('client', { cost: 2 })
  const { reset } = clientRequests(store as never, { prefix: 'sluice', policy: 'one' }, '56')
  expect(await reset({ key: 'client' })).toEqual({ key: 'client', changed: 1 })
  const left = limiter.peek('client').policies.map(({ remaining }) => remaining)
  expect(left).toEqual([5, 3])
  store.close()
})
