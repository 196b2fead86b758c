import { afterEach, describe, expect, test } from '@jest/globals'
import { createLimiter } from '../limiter/create-limiter.ts'
import type { Store } from './store.ts'

const closing: { close(): void }[] = []
afterEach(() => {
  for (const each of closing.splice(0)) each.close()
})

function opening(store: object) {
  return () => {
    closing.push(createLimiter({ store: store as Store, limit: 1, window: '1s', prefix: 'a' }))
  }
}

const decide = () => []

describe('a store of somebody else is an error at once', () => {
  test.each(['sync', 'async'] as const)('where its ledger lacks a function: %s', (mode) => {
    const store = (ledger: unknown) => ({ mode, open: () => ledger, close() {} })
    const code = 'SLUICE_STORE_UNKNOWN'
    const wrong: [unknown, RegExp][] = [
      [{}, /decide and change.*Received an object without decide and change/],
      [{ decide }, /without change/],
      [{ change: () => {} }, /without decide/],
      [undefined, /undefined/],
      [Promise.resolve({ decide, change: () => {} }), /Await|await/],
    ]
    for (const [ledger, message] of wrong) {
      expect(opening(store(ledger))).toThrow(expect.objectContaining({ code }))
      expect(opening(store(ledger))).toThrow(message)
    }
    expect(opening(store({ decide, change: () => {} }))).not.toThrow()
  })

  test('where it does not say how it answers', () => {
    const store = { open: () => ({}), close() {} }
    expect(opening(store)).toThrow(/store\.mode/)
  })
})
