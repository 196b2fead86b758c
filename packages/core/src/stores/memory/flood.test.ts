import { afterEach, describe, expect, it } from '@jest/globals'
import { ALGORITHM_NAMES } from '../../algorithms/index.ts'
import { createLimiter } from '../../limiter/create-limiter.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { type MemoryStore, memoryStore } from './memory-store.ts'

const stores: MemoryStore[] = []
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
})

function world(maxKeys: number) {
  const clock = manualClock()
  const store = memoryStore({ maxKeys, clock })
  stores.push(store)
  return { clock, store }
}

describe('flooding with other keys evicts a blocked client and frees it', () => {
  it.each(ALGORITHM_NAMES)('not here, with %s', (algorithm) => {
    const { clock, store } = world(1000)
    const limiter = createLimiter({ store, limit: 10, window: '1h', algorithm })
    limiter.block('blocked', '1h')
    while (limiter.consume('refused').allowed);
    const spent = limiter.peek('refused')
    for (let i = 0; i < 100_000; i += 1) {
      limiter.consume(`flood-${i}`)
      if (i % 1000 === 0) clock.advance(1)
    }
    expect(store.size).toBe(1000)
    expect(limiter.peek('blocked').allowed).toBe(false)
    expect(limiter.peek('refused').allowed).toBe(false)
    expect(limiter.peek('refused').resetMs).toBe(spent.resetMs - 100)
  })

  it('a flood that uses up another policy does not free it either', () => {
    const { store } = world(1000)
    const day = { name: 'day', limit: 5, window: '1d' } as const
    const limiter = createLimiter({ store, policies: [day, { ...day, name: 'week', limit: 50 }] })
    for (let i = 0; i < 5; i += 1) limiter.consume('refused')
    for (let i = 0; i < 20_000; i += 1) limiter.consume(`flood-${i}`)
    expect(limiter.consume('refused').allowed).toBe(false)
  })

  it('a client that is refused a cost above what it has left is not freed', () => {
    const { store } = world(100)
    const limiter = createLimiter({ store, limit: 10, window: '1d' })
    limiter.consume('refused', { cost: 1 })
    limiter.consume('refused', { cost: 10 })
    for (let i = 0; i < 1000; i += 1) limiter.consume(`flood-${i}`, { cost: 5 })
    expect(limiter.peek('refused').remaining).toBe(9)
  })
})

describe('when every key is being refused', () => {
  it('new keys share one quota, and nothing is freed', () => {
    const { store } = world(3)
    const limiter = createLimiter({ store, limit: 2, window: '1d', algorithm: 'fixed-window' })
    for (const key of ['a', 'b', 'c']) limiter.consume(key, { cost: 2 })
    const outcomes = ['d', 'e', 'f', 'g'].map((key) => limiter.consume(key).allowed)
    expect(outcomes).toEqual([true, true, false, false])
    expect(['a', 'b', 'c'].map((key) => limiter.consume(key).allowed)).not.toContain(true)
    expect(store.size).toBe(3)
  })

  it('ends when a quota is given back, even while the clock does not move', () => {
    const { store } = world(2)
    const limiter = createLimiter({ store, limit: 2, window: '1d' })
    for (const key of ['a', 'b']) limiter.consume(key, { cost: 2 })
    for (const key of ['c', 'd', 'e']) limiter.consume(key)
    expect(limiter.consume('f').allowed).toBe(false)
    limiter.settle('a', -1)
    expect(limiter.consume('f').remaining).toBe(1)
    expect(store.size).toBe(2)
  })

  it('ends when a quota is full again', () => {
    const { clock, store } = world(2)
    const limiter = createLimiter({ store, limit: 1, window: 1000, algorithm: 'fixed-window' })
    for (const key of ['a', 'b']) limiter.consume(key)
    expect(['c', 'd'].map((key) => limiter.consume(key).allowed)).toEqual([true, false])
    clock.advance(1000)
    expect(['c', 'd', 'e', 'a'].map((key) => limiter.consume(key).allowed)).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  it('does not outlast a clock that steps back', () => {
    const { clock, store } = world(2)
    const limiter = createLimiter({ store, limit: 2, window: 1000, algorithm: 'token-bucket' })
    for (const key of ['a', 'b']) limiter.consume(key, { cost: 2 })
    for (const key of ['c', 'd', 'e']) limiter.consume(key)
    clock.advance(-3_600_000)
    limiter.settle('a', -1)
    expect(limiter.consume('f').remaining).toBe(1)
  })
})
