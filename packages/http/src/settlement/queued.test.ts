import { expect, test } from '@jest/globals'
import { type Charge, createLimiter, memoryStore } from '@sluice/core'
import type { StoreLimiter } from '@sluice/core/internal'
import { manualClock } from '@sluice/core/testing'
import { Correction } from './settlement.ts'

test.each([
  { behind: 0, left: 7, what: 'the last turn is given back, also after it was charged more' },
  { behind: 1, left: 4, what: 'no turn of a request that is behind is given away' },
])('$what', async ({ behind, left }) => {
  const store = memoryStore({ clock: manualClock() })
  // It has room for nine units.
  const options = {
    store,
    limit: 4,
    window: '1s',
    algorithm: 'leaky-bucket',
    maxDelay: '2s',
  } as const
  const limiter = createLimiter(options)
  const charging = limiter as unknown as StoreLimiter
  const limit = charging.compiledPolicies[0]?.compiledLimit as Charge['limit']
  const charges = [{ key: 'client', limit, cost: 3 }]
  const { policies } = await charging.decide(charges)
  let cost = 4
  const messages = { request: {}, response: {}, route: undefined }
  const correction = new Correction(charging, [() => cost], charges, policies, messages)
  await correction.correct(false)
  expect(limiter.peek('client').remaining).toBe(5)
  for (let i = 0; i < behind; i += 1) limiter.consume('client')
  cost = 2
  await correction.correct(true)
  expect(limiter.peek('client').remaining).toBe(left)
  store.close()
})
