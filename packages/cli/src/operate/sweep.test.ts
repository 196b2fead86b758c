import { describe, expect, it } from '@jest/globals'
import { createLimiter, type InspectableStore, memoryStore, type StoreEntry } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import type { Order } from './flags.ts'
import { type Sweep, Sweeper } from './sweep.ts'

const never = new AbortController().signal
const clock = manualClock()
const storeOf = () => memoryStore({ clock })

async function swept(sweeper: Sweeper, order: Order = 'share'): Promise<Sweep> {
  return (await sweeper.sweep(order, never)) as Sweep
}

const keysOf = ({ top }: Sweep) => top.map(({ key }) => key)

describe('a sweep', () => {
  it('counts all keys, and keeps those that are nearest to their limit', async () => {
    const store = storeOf()
    const limiter = createLimiter({ store, limit: 100, window: '1d' })
    for (let i = 1; i <= 95; i += 1) limiter.consume(`client-${i}`, { cost: i })
    limiter.consume('full', { cost: 100 })
    limiter.block('blocked', '1h')
    const sweep = await swept(new Sweeper(store, {}, 4))
    expect(sweep).toMatchObject({ keys: 97, exhausted: 1, near: 16, blocked: 1, banned: 0 })
    expect(keysOf(sweep)).toEqual(['full', 'blocked', 'client-95', 'client-94'])
    store.close()
  })

  it('orders by what is used, or by how fast', async () => {
    const store = storeOf()
    const [small, large] = [10, 1000].map((limit) => createLimiter({ store, limit, window: '1d' }))
    small?.consume('small', { cost: 9 })
    large?.consume('large', { cost: 500 })
    const sweeper = new Sweeper(store, {}, 10)
    expect(keysOf(await swept(sweeper))).toEqual(['small', 'large'])
    expect(keysOf(await swept(sweeper, 'used'))).toEqual(['large', 'small'])
    clock.advance(2000)
    small?.consume('small')
    large?.consume('large', { cost: 100 })
    const { top } = await swept(sweeper, 'rate')
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
    const sweeper = new Sweeper(store, {}, 10)
    await swept(sweeper)
    clock.advance(1000)
    limiter.consume('client')
    expect((await swept(sweeper)).top[0]?.rate).toBe(0)
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
    const { top } = await swept(new Sweeper(twice, {}, 20))
    expect(new Set(top.map(({ key }) => key)).size).toBe(20)
    expect(top).toHaveLength(20)
    store.close()
  })

  it('ends early when it is interrupted', async () => {
    const store = storeOf()
    createLimiter({ store, limit: 10, window: '1d' }).consume('client')
    expect(await new Sweeper(store, {}, 5).sweep('share', AbortSignal.abort())).toBeUndefined()
    store.close()
  })
})
