import { expect, test } from '@jest/globals'
import { compareAndSwapStore } from './compare-and-swap-store.ts'
import { transactionalStore } from './transactional-store.ts'

test.each([
  ['transact', () => transactionalStore({} as never)],
  ['read', () => compareAndSwapStore({ now: Date.now, swap: () => true } as never)],
  ['swap', () => compareAndSwapStore({ now: Date.now, read: () => [] } as never)],
  ['now', () => compareAndSwapStore({ read: () => [], swap: () => true } as never)],
])('a backend without %s is an error at once', (name, make) => {
  expect(make).toThrow(expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: name }))
})
