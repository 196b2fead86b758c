import { afterEach, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import type { AlgorithmName } from '../../algorithms/index.ts'
import { algorithms, ban, concurrency } from '../../algorithms/index.ts'
import { reserved } from '../../algorithms/reserved/reserved.ts'
import { anyParams } from '../../algorithms/testing/arbitraries.ts'
import { createLimiter } from '../../limiter/create-limiter.ts'
import type { Limiter } from '../../limiter/limiter.ts'
import { Policy } from '../../limiter/policy.ts'
import { StoreLimiter } from '../../limiter/store-limiter.ts'
import { withVerbs } from '../../testing/ledger-verbs.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { withRefusals } from '../rules/decide-all.ts'
import { type MemoryStore, memoryStore } from './memory-store.ts'

const ALGORITHMS = Object.keys(algorithms) as AlgorithmName[]

const stores: MemoryStore[] = []
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
})

/** A store on a clock of its own, with a limiter of ten a minute. */
function world(maxKeys: number, limit = 10) {
  const clock = manualClock()
  const store = memoryStore({ maxKeys, clock })
  stores.push(store)
  const limiter = createLimiter({ store, limit, window: '1m', algorithm: 'fixed-window' })
  return { clock, store, limiter }
}

/** The keys of which the limiter still knows that they were used. */
function known(limiter: Limiter<'sync'>, keys: readonly string[]): string[] {
  return keys.filter((key) => {
    const { limit, remaining } = limiter.peek(key)
    return remaining < limit
  })
}

describe('a full memory store', () => {
  it('holds one key if that is all it may', () => {
    const { store, limiter } = world(1)
    for (const key of ['a', 'b', 'c']) limiter.consume(key)
    expect(store.size).toBe(1)
    expect(known(limiter, ['a', 'b', 'c'])).toEqual(['c'])
  })

  it('frees precisely the expired key first', () => {
    const { clock, store, limiter } = world(3)
    const brief = createLimiter({ store, limit: 10, window: 1000, algorithm: 'fixed-window' })
    brief.consume('expires', { cost: 9 })
    limiter.consume('a')
    limiter.consume('b')
    clock.advance(1000)
    limiter.consume('c')
    expect(store.size).toBe(3)
    expect(known(limiter, ['a', 'b', 'c'])).toEqual(['a', 'b', 'c'])
  })

  it('frees precisely the key nearest to a full quota next', () => {
    const { store, limiter } = world(3)
    limiter.consume('five', { cost: 5 })
    limiter.consume('two', { cost: 2 })
    limiter.consume('nine', { cost: 9 })
    limiter.consume('new', { cost: 3 })
    expect(store.size).toBe(3)
    expect(known(limiter, ['five', 'two', 'nine', 'new'])).toEqual(['five', 'nine', 'new'])
    limiter.consume('newer')
    expect(known(limiter, ['five', 'nine', 'new', 'newer'])).toEqual(['five', 'nine', 'newer'])
  })

  it('counts a quota that was given back as nearer to full', () => {
    const { limiter } = world(2)
    limiter.consume('a', { cost: 9 })
    limiter.consume('b', { cost: 5 })
    limiter.settle('a', -8)
    limiter.consume('c', { cost: 9 })
    expect(known(limiter, ['a', 'b', 'c'])).toEqual(['b', 'c'])
  })

  it('frees the key nearest to a full quota of up to four limiters, whatever they hold', () => {
    const uses = Array.from({ length: 253 }, (_, i) => i + 1)
    const anyUses = fc.shuffledSubarray(uses, { minLength: 10, maxLength: 40 })
    const anyPlaces = fc.array(fc.nat(3), { minLength: 40, maxLength: 40 })
    const property = fc.property(anyUses, anyPlaces, (costs, places) => {
      const store = memoryStore({ maxKeys: 8, clock: manualClock() })
      stores.push(store)
      const terms = { store, limit: 254, window: '1m', algorithm: 'fixed-window' } as const
      const limiters = ['a', 'b', 'c', 'd'].map((prefix) => createLimiter({ ...terms, prefix }))
      const kept = new Set<number>()
      for (const [i, cost] of costs.entries()) {
        if (kept.size === 8) kept.delete(Math.min(...kept))
        kept.add(cost)
        limiters[places[i] as number]?.consume(`uses ${cost}`, { cost })
        expect(store.size).toBe(kept.size)
      }
      const keys = costs.map((cost) => `uses ${cost}`)
      const found = limiters.flatMap((limiter) => known(limiter, keys)).sort()
      expect(found).toEqual([...kept].map((cost) => `uses ${cost}`).sort())
    })
    fc.assert(property)
  })

  it('measures each limit of a policy by itself', () => {
    const store = memoryStore({ maxKeys: 3, clock: manualClock() })
    stores.push(store)
    const varying = new Policy('', { limit: () => 10, window: '1m', algorithm: 'fixed-window' })
    const limiter = new StoreLimiter([varying], { store }) as Limiter<'sync'>
    limiter.consume('free', { limit: 10, cost: 9 })
    limiter.consume('gold', { limit: 1000, cost: 500 })
    limiter.consume('silver', { limit: 100, cost: 60 })
    limiter.consume('new', { limit: 10, cost: 9 })
    expect(limiter.peek('free', { limit: 10 }).remaining).toBe(1)
    expect(limiter.peek('gold', { limit: 1000 }).remaining).toBe(1000)
    expect(limiter.peek('silver', { limit: 100 }).remaining).toBe(40)
  })

  it('measures a queue by what it holds, which may be more than the limit', () => {
    const store = memoryStore({ maxKeys: 3, clock: manualClock() })
    stores.push(store)
    const terms = { limit: 10, window: '1m', maxDelay: '5m' } as const
    const limiter = createLimiter({ store, algorithm: 'leaky-bucket', ...terms })
    limiter.consume('half', { cost: 25 })
    limiter.consume('little', { cost: 2 })
    limiter.consume('most', { cost: 45 })
    limiter.consume('new', { cost: 48 })
    const remaining = ['half', 'little', 'most', 'new'].map((key) => limiter.peek(key).remaining)
    expect(remaining).toEqual([26, 51, 6, 3])
  })

  it.each(ALGORITHMS)('frees first what is least used, whatever the policy of %s', (name) => {
    const anyCosts = fc.array(fc.nat(40), { minLength: 2, maxLength: 8 })
    const property = fc.property(anyParams(name), anyCosts, (params, costs) => {
      const limit = algorithms[name].compile(params)
      const store = memoryStore({ maxKeys: costs.length, clock: manualClock() })
      const keyspace = { name: 'space', algorithm: limit.algorithm }
      const ledger = withVerbs(store.open([keyspace], 'test'))
      const ask = (key: string) => ledger.peek([{ key, limit, cost: 0 }]).outcomes[0]!.remaining
      const whole = ask('unseen')
      const spend = (key: string, cost: number) =>
        ledger.consume([{ key, limit, cost: 1 + (cost % whole) }])
      costs.forEach((cost, i) => {
        spend(`client-${i}`, cost)
      })
      const keys = costs.map((_, i) => `client-${i}`)
      const before = new Map(keys.map((key) => [key, ask(key)]))
      spend('new', 0)
      const share = (key: string) => Math.floor((before.get(key)! * 254) / whole)
      const gone = keys.filter((key) => ask(key) > before.get(key)!)
      const kept = keys.filter((key) => !gone.includes(key))
      store.close()
      if (keys.every((key) => before.get(key) === 0)) expect(gone).toEqual([])
      else expect(gone).toHaveLength(1)
      for (const key of gone)
        expect(share(key)).toBeGreaterThanOrEqual(Math.max(...kept.map(share)))
    })
    fc.assert(property, { numRuns: 200 })
  })

  it('keeps a client that one of several policies refuses a cost above what it has left', () => {
    const { store } = world(100)
    const minute = { limit: 10, window: '1m', algorithm: 'fixed-window' } as const
    const policies = [
      { ...minute, name: 'minute' },
      { ...minute, name: 'day', window: '1d' },
    ] as const
    const limiter = createLimiter({ store, policies })
    limiter.consume('refused', { cost: 1 })
    limiter.consume('refused', { cost: 10 })
    for (let i = 0; i < 200; i += 1) limiter.consume(`flood-${i}`, { cost: 5 })
    expect(limiter.peek('refused').policies.map(({ remaining }) => remaining)).toEqual([9, 9])
  })

  it('frees a key of the very request that needs room, and then knows that it is gone', () => {
    const { clock, store, limiter } = world(3)
    const policies = [
      { name: 'burst', limit: 10, window: 1000, algorithm: 'fixed-window' },
      { name: 'day', limit: 1000, window: '1d', algorithm: 'fixed-window' },
    ] as const
    const both = createLimiter({ store, policies })
    const remaining = (key: string) =>
      both.peek(key).policies.map((policy) => [policy.name, policy.remaining])
    both.consume('client')
    limiter.consume('x', { cost: 9 })
    clock.advance(1000)
    limiter.consume('y', { cost: 9 })
    expect(remaining('client')).toEqual([
      ['burst', 10],
      ['day', 999],
    ])
    // No room for its burst, and of all keys its day is the one nearest to a full quota.
    both.consume('client')
    expect(remaining('client')).toEqual([
      ['burst', 9],
      ['day', 999],
    ])
    expect(store.size).toBe(3)
  })

  it('never exceeds its bound, whatever is done', () => {
    const hold = { windowMs: 5000, holdMs: 5000 }
    const window = { limit: 2, windowMs: 9000, holdMs: 5000 }
    const limits = [
      algorithms['fixed-window'].compile(window),
      reserved(algorithms['fixed-window']).compile(window),
      concurrency.compile({ ...hold, limit: 1 }),
    ]
    const banned = ban.compile({ limit: 1, windowMs: 9000, bansMs: [9000] })
    const policies = limits.map(({ algorithm }, i) => ({ name: `p${i}`, algorithm }))
    const anyAct = fc.record({
      kind: fc.constantFrom('consume', 'settle', 'renew', 'block', 'reset', 'override' as const),
      ledger: fc.nat(2),
      key: fc.nat(2).map((number) => `client ${number}`),
      slot: fc.integer({ min: 1, max: 2 }),
      cost: fc.integer({ min: -1, max: 2 }),
      ms: fc.constantFrom(0, 1, 2500, 5000, -3000),
    })
    const property = fc.property(fc.array(anyAct, { maxLength: 60, size: 'max' }), (acts) => {
      const clock = manualClock()
      const store = memoryStore({ maxKeys: 2, clock })
      stores.push(store)
      const ledgers = policies.map((policy, i) => {
        const counting = i === 0 ? [{ name: 'ban', algorithm: ban, limit: banned }] : []
        return withVerbs(store.open([policy, ...counting], 'sluice'))
      })
      for (const { kind, ledger: i, key, slot, cost, ms } of acts) {
        clock.advance(ms)
        const [ledger, limit] = [ledgers[i]!, limits[i] as CompiledLimit]
        const charge = { key, limit, cost, claim: [slot] }
        try {
          if (kind === 'consume') {
            const charged = [{ ...charge, cost: Math.abs(cost) }]
            ledger.consume(i === 0 ? withRefusals(charged, banned) : charged)
          } else if (kind === 'settle')
            ledger.settle([{ ...charge, claim: [slot, 0, 1] }], clock() - 2500)
          else if (kind === 'renew') ledger.renew([[charge]])
          else if (kind === 'block') ledger.block(key, 5000)
          else if (kind === 'reset') ledger.reset(key)
          else ledger.override(0, key, limit, { limit: slot, until: clock() + 5000 })
        } catch (error) {
          expect(error).toMatchObject({ option: 'maxKeys' })
        }
        expect(store.size).toBeLessThanOrEqual(2)
      }
    })
    fc.assert(property)
  })

  it('has room for a key of each policy, and of the ban, or is refused', () => {
    const policies = [
      { name: 'a', limit: 10, window: 1000 },
      { name: 'b', limit: 100, window: '1m' },
    ] as const
    const limiterOf = (maxKeys: number) => {
      const store = memoryStore({ maxKeys })
      stores.push(store)
      createLimiter({ store, policies, ban: { after: 3, within: '1m', for: ['1m'] } })
    }
    expect(() => limiterOf(2)).toThrow(expect.objectContaining({ option: 'maxKeys' }))
    limiterOf(3)
  })

  it('does not need room for what it would not keep', () => {
    const { store, limiter } = world(1)
    limiter.consume('a')
    limiter.peek('b')
    limiter.settle('b', -1)
    limiter.reset('b')
    expect(store.size).toBe(1)
    expect(known(limiter, ['a'])).toEqual(['a'])
  })

  it('blocks a new key even if all others are being refused, within its bound', () => {
    const { store, limiter } = world(2)
    limiter.block('a', '1h')
    limiter.block('b', '2h')
    limiter.block('c', '3h')
    // The block that ends first made room.
    expect(['a', 'b', 'c'].map((key) => limiter.peek(key).allowed)).toEqual([true, false, false])
    expect(store.size).toBe(0)
  })

  it('needs no room to block a key that it has', () => {
    const { limiter } = world(2)
    limiter.consume('a')
    limiter.consume('b')
    limiter.block('a', '1h')
    expect(known(limiter, ['a', 'b'])).toEqual(['a', 'b'])
    expect(limiter.peek('a').retryAfterMs).toBe(3_600_000)
  })
})

describe('rows', () => {
  it('are reused without a trace of the state before, whatever freed them', () => {
    const { clock, store, limiter } = world(2)
    const log = createLimiter({ store, limit: 10, window: '1m', algorithm: 'sliding-log' })
    for (const each of [limiter, log]) {
      each.consume('reset', { cost: 9 })
      each.reset('reset')
      expect(each.consume('after-reset').remaining).toBe(9)
      each.block('after-reset', '1h')
      each.reset('after-reset')
      expect(each.consume('after-block').remaining).toBe(9)
      each.settle('after-block', -1)
      expect(each.consume('after-settle').remaining).toBe(9)
      for (const key of ['evicts', 'evicts too']) expect(each.consume(key).remaining).toBe(9)
      clock.advance(60_000)
      for (const key of ['x', 'y', 'z']) expect(each.consume(key).remaining).toBe(9)
    }
    expect(store.size).toBe(2)
  })

  it('never change hands while a request with several policies is being decided', () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 4, clock })
    stores.push(store)
    const limiter = createLimiter({
      store,
      policies: [
        { name: 'burst', limit: 10, window: 1000, algorithm: 'fixed-window' },
        { name: 'day', limit: 1000, window: '1d', algorithm: 'fixed-window' },
      ],
    })
    const remaining = (key: string) =>
      limiter.consume(key, { cost: 4 }).policies.map((policy) => policy.remaining)
    for (let i = 0; i < 40; i += 1) {
      // Each new key frees another's rows, and each has expired in the first policy.
      expect(remaining(`client-${i}`)).toEqual([6, 996])
      clock.advance(1000)
    }
    expect(store.size).toBeLessThanOrEqual(4)
  })
})

describe('tables', () => {
  it('separate policies, limiters and prefixes, and share equal names', () => {
    const { store, limiter } = world(1000)
    const terms = {
      prefix: 'sluice',
      store,
      limit: 10,
      window: '1m',
      algorithm: 'fixed-window',
    } as const
    limiter.consume('a', { cost: 4 })
    expect(createLimiter(terms).peek('a').remaining).toBe(6)
    expect(createLimiter({ ...terms, prefix: 'other' }).peek('a').remaining).toBe(10)
    expect(createLimiter({ ...terms, window: '2m' }).peek('a').remaining).toBe(10)
    expect(createLimiter({ ...terms, algorithm: 'sliding-window' }).peek('a').remaining).toBe(10)
  })

  it('keep every key when there are more than one map holds', () => {
    const { store, limiter } = world(100_000)
    const keys = Array.from({ length: 20_000 }, (_, i) => `client-${i}`)
    for (const [i, key] of keys.entries()) limiter.consume(key, { cost: 1 + (i % 9) })
    expect(store.size).toBe(20_000)
    expect(keys.every((key, i) => limiter.peek(key).remaining === 9 - (i % 9))).toBe(true)
  })
})
