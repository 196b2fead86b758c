import { afterEach, expect, it } from '@jest/globals'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { Policy } from './policy.ts'
import { PolicyLedgers } from './policy-ledgers.ts'

const store = memoryStore({ maxKeys: 10 })
afterEach(() => store.close())

it('keeps few ledgers, however many limits vary together', () => {
  const options = { limit: () => 5, window: '1d', algorithm: 'token-bucket' } as const
  const policies = ['a', 'b'].map((name) => new Policy('', { ...options, name }))
  const ledgers = new PolicyLedgers(policies, (quotas) => store.open({ policies: quotas }, ''))
  for (let i = 0; i < 27; i += 1) {
    for (let j = 0; j < 27; j += 1) {
      const limits = policies.map((each, k) => each.limitFor(Math.floor(1e12 / 2 ** (k ? i : j))))
      ledgers.of(limits.map((limit) => ({ key: 'a', limit, cost: 1 })))
    }
  }
  expect(ledgers.all()).toHaveLength(100)
})
