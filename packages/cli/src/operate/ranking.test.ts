import { describe, expect, it } from '@jest/globals'
import { createLimiter, type InspectableStore, memoryStore, type StoreEntry } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import type { Order } from './flags.ts'
import { Ranker, type Ranking } from './ranking.ts'

const never = new AbortController().signal
const clock = manualClock()
const storeOf = () => memoryStore({ clock })

async function ranked(ranker: Ranker, order: Order = 'share'): Promise<Ranking> {
  return (await ranker.rank(order, never)) as Ranking
}

const keysOf = ({ top }: Ranking) => top.map(({ key }) => key)

describe('a ranking', () => {
  it('counts all keys, and keeps those that are nearest to their limit', async () => {
    const store = storeOf()
    const limiter = createLimiter({ store, limit: 100, window: '1d' })
    for (let i = 1; i <= 95; i += 1) limiter.consume(`client-${i}`, { cost: i })
    limiter.consume('full', { cost: 100 })
    limiter.block('blocked', '1h')
    const ranking = await ranked(new Ranker(store, {}, 4))
    expect(ranking).toMatchObject({ keys: 97, exhausted: 1, near: 16, blocked: 1, banned: 0 })
    expect(keysOf(ranking)).toEqual(['full', 'blocked', 'client-95', 'client-94'])
    store.close()
  })

  it('orders by what is used, or by how fast', async () => {
    const store = storeOf()
    const small = createLimiter({ store, limit: 10, window: '1d' })
    const large = createLimiter({ store, limit: 1000, window: '2d' })
    small.consume('small', { cost: 9 })
    large.consume('large', { cost: 500 })
    const ranker = new Ranker(store, {}, 10)
    expect(keysOf(await ranked(ranker))).toEqual(['small', 'large'])
    expect(keysOf(await ranked(ranker, 'used'))).toEqual(['large', 'small'])
    clock.advance(2000)
    small.consume('small')
    large.consume('large', { cost: 100 })
    const { top } = await ranked(ranker, 'rate')
    expect(top.map(({ key, rate }) => [key, rate])).toEqual([
      ['large', 50],
      ['small', 0.5],
    ])
    store.close()
  })

  it('has no rate below 0 where a window has forgotten', async () => {
    const store = storeOf()
    const limiter = createLimiter({ store, limit: 9, window: '1s', algorithm: 'fixed-window' })
    limiter.consume('client', { cost: 9 })
    const ranker = new Ranker(store, {}, 10)
    await ranked(ranker)
    clock.advance(1000)
    limiter.consume('client')
    expect((await ranked(ranker)).top[0]?.rate).toBe(0)
    store.close()
  })

  it('shows a key once that the store gives twice, and no more than its size', async () => {
    const store = storeOf()
    const limiter = createLimiter({ store, limit: 10, window: '1d' })
    for (let i = 0; i < 50; i += 1) limiter.consume(`client-${i}`)
    const twice = {
      async *inspect(): AsyncGenerator<StoreEntry> {
        for await (const entry of store.inspect()) {
          yield entry
          yield entry
        }
      },
    } as unknown as InspectableStore
    const { top } = await ranked(new Ranker(twice, {}, 20))
    expect(new Set(top.map(({ key }) => key)).size).toBe(20)
    expect(top).toHaveLength(20)
    store.close()
  })

  it('ends early when it is interrupted', async () => {
    const store = storeOf()
    createLimiter({ store, limit: 10, window: '1d' }).consume('client')
    expect(await new Ranker(store, {}, 5).rank('share', AbortSignal.abort())).toBeUndefined()
    store.close()
  })
})
