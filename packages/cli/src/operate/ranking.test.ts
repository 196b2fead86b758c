import { describe, expect, it } from '@jest/globals'
import { createLimiter, type InspectableStore, memoryStore, type StoreEntry } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import { moment } from '@sluice/terminal/words'
import { rankedText, standingText } from './entry-text.ts'
import type { Order } from './flags.ts'
import { endsByKey } from './networks.ts'
import { type RankedRecord, Ranker, type Ranking } from './ranking.ts'

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
    expect(keysOf(ranking)).toEqual(['blocked', 'full', 'client-95', 'client-94'])
    store.close()
  })

  it('shows banned clients first, and at their other entries that they are banned', async () => {
    const store = storeOf()
    const ban = { after: 1, within: '1h', for: ['30m'] } as const
    const banning = createLimiter({ store, limit: 5, window: '1d', ban })
    const trying = createLimiter({ store, limit: 5, window: '2d', prefix: 'sluice.0a1b2c3d' })
    for (let i = 0; i < 30; i += 1) {
      for (let n = 0; n < 6; n += 1) banning.consume(`client-${i}`)
    }
    trying.consume('client-0', { cost: 5 })
    trying.consume('client-31', { cost: 5 })
    const until = clock() + 1_800_000
    const { top } = await ranked(new Ranker(store, { prefix: 'sluice' }, 30))
    expect(top.map(({ standing }) => standing)).toEqual(Array(30).fill('banned'))
    expect(standingText(top[0] as RankedRecord)).toBe(`banned for 30 min, until ${moment(until)}`)

    const byUse = await ranked(new Ranker(store, {}, 100), 'used')
    const ofClient = byUse.top.filter(
      ({ key, used }) => ['client-0', 'client-31'].includes(key) && used === 5,
    )
    expect(ofClient.map((record) => [record.prefix, rankedText(record).split(';')[0]])).toEqual([
      ['sluice', `banned until ${moment(until)}`],
      ['sluice.0a1b2c3d', `banned until ${moment(until)}`],
      ['sluice.0a1b2c3d', '5 used, 0 left (100 %), unused in 2 d 6 h'],
    ])
    store.close()
  })

  it('does not say of a client that a ban in a dry run refuses it', async () => {
    const store = storeOf()
    const ban = { after: 1, within: '1h', for: ['30m'] } as const
    const banning = createLimiter({ store, limit: 1, window: '1d', ban })
    for (let i = 0; i < 3; i += 1) banning.consume('client')
    const tried = {
      async *inspect(): AsyncGenerator<StoreEntry> {
        for await (const entry of store.inspect()) yield { ...entry, dryRun: true }
      },
    } as unknown as InspectableStore
    const { banned, top } = await ranked(new Ranker(tried, {}, 5))
    expect([banned, top.map(({ shut }) => shut)]).toEqual([1, [undefined, undefined]])
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
    expect(await ranked(new Ranker(twice, {}, 50))).toMatchObject({ keys: 50 })
    store.close()
  })

  it('ends early when it is interrupted', async () => {
    const store = storeOf()
    createLimiter({ store, limit: 10, window: '1d' }).consume('client')
    expect(await new Ranker(store, {}, 5).rank('share', AbortSignal.abort())).toBeUndefined()
    store.close()
  })
})

it('a client is in a blocked network by its address, with a shard or without', () => {
  const endOf = endsByKey([{ network: '203.0.113.0/24', endsMs: 1, until: 5000 }])
  const keys = ['203.0.113.7', '{acme}203.0.113.7', '203.0.114.7', 'user:203.0.113.7']
  expect(keys.map(endOf)).toEqual([5000, 5000, -Infinity, -Infinity])
})
