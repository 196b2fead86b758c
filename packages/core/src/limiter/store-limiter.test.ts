import { afterEach, expect, it, jest } from '@jest/globals'
import { type MemoryStore, memoryStore } from '../stores/memory/memory-store.ts'
import { manualClock } from '../testing/index.ts'
import type { Limiter } from './limiter.ts'
import { Policy } from './policy.ts'
import { StoreLimiter } from './store-limiter.ts'

const stores: MemoryStore[] = []
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
})

/** A limiter whose limit is a function of the request, before any request. Its clock stands still. */
function varying(algorithm: 'sliding-window' | 'token-bucket') {
  const store = memoryStore({ clock: manualClock() })
  stores.push(store)
  const policy = new Policy('', { limit: () => 5, window: '1m', algorithm })
  return new StoreLimiter([policy], { store }) as Limiter<'sync'>
}

const ALGORITHMS = ['sliding-window', 'token-bucket'] as const

it.each(ALGORITHMS)('%s: blocks and resets before any limit has been used', (algorithm) => {
  const limiter = varying(algorithm)
  limiter.block('a', '1h')
  expect(limiter.consume('a', { limit: 100 }).allowed).toBe(false)
  expect(limiter.consume('b', { limit: 100 }).allowed).toBe(true)
  limiter.reset('a')
  expect(limiter.consume('a', { limit: 7 }).allowed).toBe(true)
})

it.each(ALGORITHMS)('%s: a client whose limit grows keeps what it has used', (algorithm) => {
  const limiter = varying(algorithm)
  limiter.consume('a', { limit: 10, cost: 7 })
  expect(limiter.peek('a', { limit: 25 }).remaining).toBe(18)
})

it('3,000 values of a limit that is a function open one ledger of a bucket, not 3,000', () => {
  const store = memoryStore()
  stores.push(store)
  const open = jest.spyOn(store, 'open')
  const policy = new Policy('', { limit: () => 5, window: '1m', algorithm: 'token-bucket' })
  const limiter = new StoreLimiter([policy], { store }) as Limiter<'sync'>
  for (let limit = 1; limit <= 3000; limit += 1) limiter.consume(`${limit}`, { limit })
  expect(open).toHaveBeenCalledTimes(1)
})
