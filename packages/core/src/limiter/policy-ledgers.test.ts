import { afterEach, expect, it, jest } from '@jest/globals'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { Policy } from './policy.ts'
import { PolicyLedgers } from './policy-ledgers.ts'

const store = memoryStore({ maxKeys: 10 })
afterEach(() => store.close())

const ledgersOf = (options: object) => {
  const policies = ['a', 'b'].map((name) => new Policy('', { ...options, name }))
  const ledgers = new PolicyLedgers(policies, [], (quotas) => store.open(quotas, ''))
  return { policies, ledgers }
}

it('keeps few ledgers, however many windows vary together', () => {
  const { policies, ledgers } = ledgersOf({ limit: 5, window: () => '1d' })
  for (let i = 1; i <= 15; i += 1) {
    for (let j = 1; j <= 15; j += 1) {
      const limits = policies.map((each, k) => each.limitFor(5, undefined, `${k ? i : j}s`))
      ledgers.of(limits.map((limit) => ({ key: 'a', limit, cost: 1 })))
    }
  }
  expect(ledgers.all()).toHaveLength(100)
})

it('has one for all values of limits that vary', () => {
  const { policies, ledgers } = ledgersOf({
    limit: () => 5,
    window: '1d',
    algorithm: 'token-bucket',
  })
  for (const limit of [1, 7, 1e6, 1e12]) {
    const limits = policies.map((each) => each.limitFor(limit))
    expect(ledgers.of(limits.map((each) => ({ key: 'a', limit: each, cost: 1 })))).toBe(
      ledgers.only,
    )
  }
  expect(ledgers.all()).toEqual([ledgers.only])
})

it('tells which keys have changed, also where the store does not confirm it', async () => {
  const ledger = { decide: jest.fn(), change: () => Promise.reject(new Error('down')) }
  const policies = [new Policy('', { limit: 5, window: '1d' })]
  const ledgers = new PolicyLedgers<'async'>(policies, [], () => ledger as never)
  const changed = jest.fn()
  ledgers.whenChanged = changed
  const change = ledgers.change(ledger as never, { kind: 'reset', key: 'ada' })
  await expect(change).rejects.toThrow('down')
  expect(changed.mock.calls).toEqual([[new Set(['ada'])]])
})
