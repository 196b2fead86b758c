import { afterEach, expect, it } from '@jest/globals'
import { Policy } from './policy.ts'
import { PolicyLimiter } from './policy-limiter.ts'
import { type MemoryStore, memoryStore } from './stores/memory/memory-store.ts'

const stores: MemoryStore[] = []
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
})

/** A limiter whose limit is a function of the request, before it has met any. */
function tiered(algorithm: 'sliding-window' | 'token-bucket') {
  const store = memoryStore()
  stores.push(store)
  const policy = new Policy('', { limit: () => 5, window: '1m', algorithm })
  return new PolicyLimiter<'sync'>([policy], { store })
}

it('blocks and resets though no limit has been met yet', () => {
  const limiter = tiered('sliding-window')
  limiter.block('a', '1h')
  expect(limiter.consume('a', { limit: 100 }).allowed).toBe(false)
  expect(limiter.consume('b', { limit: 100 }).allowed).toBe(true)
  limiter.reset('a')
  expect(limiter.consume('a', { limit: 7 }).allowed).toBe(true)
})

it('wants to know the limit where the keys of a bucket depend on it', () => {
  const limiter = tiered('token-bucket')
  expect(() => limiter.block('a', '1h')).toThrow(expect.objectContaining({ option: 'limit' }))
  limiter.block('a', '1h', { limit: 100 })
  expect(limiter.consume('a', { limit: 100 }).allowed).toBe(false)
  limiter.reset('a', { limit: 100 })
  expect(limiter.consume('a', { limit: 100 }).allowed).toBe(true)
  limiter.block('a', '1h')
  expect(limiter.peek('a', { limit: 100 }).allowed).toBe(false)
})
