import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { RoutedLimiter } from '@sluice/http/adapter'
import fc from 'fast-check'
import { plain } from '../../../../http/src/testing/plain-server.ts'
import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import type { AlgorithmName } from '../../algorithms/index.ts'
import { algorithms } from '../../algorithms/index.ts'
import { createLimiter } from '../../limiter/create-limiter.ts'
import type { Decision } from '../../limiter/decision.ts'
import type { Limiter } from '../../limiter/limiter.ts'
import {
  type FailingStore,
  failingStore,
  type ManualClock,
  manualClock,
} from '../../testing/index.ts'
import type { Store } from '../store.ts'

let clock: ManualClock
let store: FailingStore

beforeEach(() => {
  clock = manualClock()
  store = failingStore({ clock })
})
afterEach(() => {
  store.close()
})

const minute = { limit: 5, window: '1m', algorithm: 'sliding-log' } as const
/** With a prefix: limiters share quotas on purpose. */
const limiterOf = (options: object = {}) =>
  createLimiter({ ...minute, prefix: 'sluice', store, ...options })

/** How often the store is called meanwhile. */
async function calls(act: () => unknown): Promise<number> {
  const before = store.calls
  await act()
  return store.calls - before
}

/** Takes all that the client has, and one more, so that the refusal is remembered. */
async function exhaust(limiter: Limiter, client = 'client'): Promise<void> {
  await limiter.consume(client, { cost: 5 })
  expect((await limiter.consume(client)).allowed).toBe(false)
}

describe('a remembered refusal', () => {
  it('answers for the store until one unit is left again', async () => {
    const limiter = limiterOf()
    await exhaust(limiter)
    clock.advance(1499.5)
    expect(await limiter.consume('client')).toMatchObject({ source: 'cache', retryAfterMs: 58_501 })
    clock.advance(0.5)
    expect(await limiter.consume('client')).toMatchObject({ source: 'cache', remaining: 0 })
    clock.advance(57_000)
    expect(await limiter.consume('client')).toMatchObject({ source: 'store', retryAfterMs: 1500 })
    clock.advance(1499)
    const cached = await limiter.consume('client')
    expect(cached).toMatchObject({ allowed: false, source: 'cache', at: clock(), retryAfterMs: 1 })
    expect(cached.policies[0]).toMatchObject({ allowed: false, resetMs: 1, effectiveMs: 1 })
    clock.advance(0.5)
    expect(await limiter.consume('client')).toMatchObject({ allowed: false, source: 'store' })
    clock.advance(0.5)
    expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'store' })
  })

  it('expires after two seconds: another process may have reset the quota', async () => {
    const limiter = limiterOf()
    await exhaust(limiter)
    clock.advance(1999)
    expect(await calls(() => limiter.consume('client'))).toBe(0)
    clock.advance(1)
    expect(await calls(() => limiter.consume('client'))).toBe(1)
    expect(await calls(() => limiter.consume('client'))).toBe(0)
  })

  it('does not answer for a policy that has something left', async () => {
    const burst = { ...minute, name: 'burst', limit: 1 }
    const daily = { name: 'daily', limit: 10, window: '1d' } as const
    const both = createLimiter({ prefix: 'sluice', store, policies: [burst, daily] })
    const uploads = createLimiter({ prefix: 'sluice', store, policies: [daily] })
    await both.consume('client')
    await both.consume('client')
    await uploads.consume('client', { cost: 4 })
    const { policies } = await both.consume('client')
    expect(policies.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [false, 0],
      [true, 5],
    ])
  })

  it('holds for its own prefix: another prefix is another quota', async () => {
    await exhaust(limiterOf())
    expect(await limiterOf({ prefix: 'other' }).consume('client')).toMatchObject({ allowed: true })
  })

  it('holds for the limit that refused: for a higher limit the store is called', async () => {
    const routed = new RoutedLimiter({ ...minute, store, limit: () => 1 }, plain)
    const { limiter } = routed.base
    const consume = (limit: number) => limiter.consume('client', { limit })
    await consume(1)
    expect(await consume(1)).toMatchObject({ allowed: false, source: 'store' })
    expect(await consume(1)).toMatchObject({ allowed: false, source: 'cache' })
    clock.advance(1000)
    expect(await consume(2)).toMatchObject({ allowed: true, source: 'store' })
    // What was admitted there counts here too.
    expect(await consume(1)).toMatchObject({ source: 'store', resetMs: 60_000 })
  })

  it('for ever holds until its other figures change', async () => {
    const limiter = limiterOf({ window: '1s', algorithm: 'fixed-window' })
    clock.set(1_800_000_000_600)
    await limiter.consume('client')
    await limiter.override('client', { limit: 0 })
    expect(await calls(() => limiter.consume('client'))).toBe(1)
    clock.advance(399)
    expect(await limiter.consume('client')).toMatchObject({
      source: 'cache',
      retryAfterMs: Infinity,
      resetMs: 1,
    })
    clock.advance(1)
    expect(await limiter.consume('client')).toMatchObject({ source: 'store', resetMs: 0 })
    expect(await limiter.consume('client')).toMatchObject({ source: 'cache', resetMs: 0 })
  })

  describe('behind a ban', () => {
    const ban = { after: 1, within: '1h', for: ['2s', '10m'] } as const
    const burst = { name: 'burst', limit: 1, window: '1s', algorithm: 'sliding-log' } as const
    const hour = { name: 'hour', limit: 3, window: '1h', algorithm: 'fixed-window' } as const

    it('is not made up for a policy that nobody has asked', async () => {
      const limiter = createLimiter({ prefix: 'sluice', store, policies: [burst, hour], ban })
      await limiter.consume('client')
      await limiter.consume('client')
      // Elsewhere, what the client has of the hour is used up, and the burst is over.
      clock.advance(1100)
      const elsewhere = createLimiter({ prefix: 'sluice', store: { ...store }, policies: [hour] })
      await elsewhere.consume('client', { cost: 2 })
      const { source, retryAfterMs } = await limiter.consume('client')
      expect([source, retryAfterMs]).toEqual(['store', 3_600_000 - (clock() % 3_600_000)])
      expect(await calls(() => limiter.consume('client'))).toBe(0)
    })

    it('says what the store would say, whatever limits the client has', async () => {
      const anyStep = fc.record({
        passMs: fc.constantFrom(0, 0, 1, 1, 300, 999, 1000, 2000, 600_000),
        cost: fc.constantFrom(0, 1, 1, 1, 1, 5),
        change: fc.constantFrom(...Array(9).fill('none'), 'override', 'lift', 'grant'),
        limit: fc.constantFrom(0, 0, 1, 7),
        policy: fc.constantFrom('burst', 'hour'),
        lastsMs: fc.constantFrom(1, 500, 5000),
      })
      let cached = 0
      const history = fc.asyncProperty(
        fc.array(anyStep, { minLength: 20, maxLength: 60 }),
        async (steps) => {
          const own = failingStore({ clock })
          const options = { prefix: 'sluice', store: own, policies: [burst, hour], ban }
          const limiter = createLimiter(options)
          const asking = createLimiter({ ...options, refusalCache: false })
          for (const { passMs, cost, change, limit, policy, lastsMs } of steps) {
            clock.advance(passMs)
            const until = clock() + lastsMs
            if (change === 'override') await limiter.override('client', { policy, limit, until })
            if (change === 'lift') await limiter.override('client', null)
            if (change === 'grant') await limiter.grant('client', 1 + limit, { policy, until })
            const said = await limiter.consume('client', { cost })
            if (said.source !== 'cache') continue
            cached += 1
            expect(unsigned(said)).toEqual(unsigned(await asking.peek('client')))
          }
          for (const each of [limiter, asking, own]) each.close()
        },
      )
      await fc.assert(history, { numRuns: 150 })
      expect(cached).toBeGreaterThan(300)
    })
  })

  it('can be switched off', async () => {
    const limiter = limiterOf({ refusalCache: false })
    await exhaust(limiter)
    expect(await calls(() => limiter.consume('client'))).toBe(1)
  })
})

describe('what ends remembered refusals', () => {
  const acts = {
    reset: (limiter: Limiter, key: string) => limiter.reset(key),
    settle: (limiter: Limiter, key: string) => limiter.settle(key, -1),
    block: (limiter: Limiter, key: string) => limiter.block(key, '10m'),
  }

  describe.each(['reset', 'settle', 'block'] as const)('%s', (act) => {
    const expected = {
      allowed: act !== 'block',
      source: 'store',
      retryAfterMs: act === 'block' ? 600_000 : 0,
    }

    it('by the limiter itself', async () => {
      const limiter = limiterOf()
      await exhaust(limiter)
      await acts[act](limiter, 'client')
      expect(await limiter.consume('client')).toMatchObject(expected)
    })

    it('by another limiter of the process on the same quota', async () => {
      const limiter = limiterOf()
      const other = limiterOf({ refusalCache: false })
      await exhaust(limiter)
      await acts[act](other, 'client')
      expect(await limiter.consume('client')).toMatchObject(expected)
    })

    it('while a refusal is in progress', async () => {
      const slow = overManyConnections(store)
      const limiter = createLimiter({ ...minute, store: slow, refusalCache: true })
      await limiter.consume('client', { cost: 5 })
      const answer = slow.hold('answers')
      const refused = limiter.consume('client')
      await sent()
      await acts[act](limiter, 'client')
      answer()
      expect((await refused).allowed).toBe(false)
      expect(await limiter.consume('client')).toMatchObject(expected)
    })

    it('while the operation is in progress: what was refused before it is not remembered', async () => {
      const slow = overManyConnections(store)
      const limiter = createLimiter({ ...minute, store: slow, refusalCache: true })
      await exhaust(limiter)
      const change = slow.hold('changes')
      const done = acts[act](limiter, 'client')
      expect((await limiter.consume('client')).allowed).toBe(false)
      change()
      await done
      expect(await limiter.consume('client')).toMatchObject(expected)
    })
  })

  it('an answer of the store that something is left, even with a refusal', async () => {
    const limiter = limiterOf()
    const elsewhere = createLimiter({ ...minute, store: { ...store } })
    await exhaust(limiter)
    await elsewhere.reset('client')
    expect(await limiter.consume('client', { cost: 6 })).toMatchObject({ remaining: 5 })
    expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'store' })
  })
})

/** When the calls of this turn have been sent. */
const sent = () => new Promise((resolve) => setImmediate(resolve))

/** The store as over several connections: other calls overtake the held ones. */
function overManyConnections(store: FailingStore) {
  const gates = { answers: Promise.resolve(), changes: Promise.resolve() }
  const open: Store<'async'>['open'] = (...of) => {
    const { decide, change } = store.open(...of)
    return {
      decide: (requests, isPeek) => {
        const results = decide(requests, isPeek)
        return isPeek ? results : gates.answers.then(() => results)
      },
      change: (...all) => gates.changes.then(() => change(...all)),
    }
  }
  /** Holds back the answers or the changes until what it returns is called. */
  const hold = (which: keyof typeof gates) => {
    let release = () => {}
    gates[which] = new Promise((resolve) => {
      release = resolve
    })
    return () => release()
  }
  return { ...store, open, hold }
}

describe('if something settles', () => {
  const settling = (options: object = {}) =>
    new RoutedLimiter({ ...minute, store, settle: () => 0, ...options }, plain).base.limiter

  it('nothing is remembered by another limiter on the quota, whichever was made first', async () => {
    const before = limiterOf()
    settling()
    const after = limiterOf()
    await exhaust(before)
    expect(await calls(() => before.consume('client'))).toBe(1)
    expect(await calls(() => after.consume('client'))).toBe(1)
  })

  it('by a call of a limiter, nothing is remembered from then on', async () => {
    const limiter = limiterOf()
    await exhaust(limiter)
    expect(await calls(() => limiter.consume('client'))).toBe(0)
    await limiter.settle('another', -1)
    await exhaust(limiter, 'second')
    expect(await calls(() => limiter.consume('second'))).toBe(1)
  })

  it('nothing is remembered for other routes of a middleware with the same quota', async () => {
    const routes = { '/upload': { settle: () => 0 } }
    const { base } = new RoutedLimiter({ ...minute, store, routes }, plain)
    await exhaust(base.limiter)
    expect(await calls(() => base.limiter.consume('client'))).toBe(1)
  })

  it('nothing is remembered of keys that are decided separately: one gives back what another refuses', async () => {
    const apart: Store<'async'> = {
      ...store,
      open: (...of) => ({ ...store.open(...of), shard: () => 0 }),
    }
    const policies = ['address', 'user'].map((name) => ({ ...minute, name, limit: 1 }))
    const { limiter } = new RoutedLimiter({ store: apart, policies }, plain).base
    const limits = limiter.compiledPolicies.map(
      ({ compiledLimit }) => compiledLimit as CompiledLimit,
    )
    const consume = (keys: string[]) =>
      limiter.decide(limits.map((limit, i) => ({ key: keys[i] as string, limit, cost: 1 })))
    await consume(['a', 'b'])
    expect((await consume(['a', 'b'])).allowed).toBe(false)
    expect(await calls(() => consume(['a', 'b']))).toBeGreaterThan(0)
    expect(await calls(() => consume(['c', 'c']))).toBe(1)
    expect((await consume(['c', 'c'])).allowed).toBe(false)
    expect(await calls(() => consume(['c', 'c']))).toBe(1)
  })

  it('refusals are remembered if the option says so', async () => {
    const limiter = settling({ refusalCache: true })
    await exhaust(limiter)
    expect(await calls(() => limiter.consume('client'))).toBe(0)
  })
})

describe('what it takes', () => {
  it('is bounded: of 10,000 keys the oldest is removed first', async () => {
    const limiter = limiterOf({ limit: 1 })
    for (let i = 0; i < 10_001; i += 1) {
      await limiter.consume(`client ${i}`)
      await limiter.consume(`client ${i}`)
    }
    expect(await calls(() => limiter.consume('client 0'))).toBe(1)
    expect(await calls(() => limiter.consume('client 10000'))).toBe(0)
  })
})

/** The decision without its source. */
function unsigned({ source: _, policies, ...decision }: Decision) {
  return { ...decision, policies: policies.map(({ source: __, ...policy }) => policy) }
}

/** Operations on a key, and on the same key in a store that is always called. */
const anyStep = fc.record({
  act: fc.oneof(
    { weight: 30, arbitrary: fc.constant('consume') },
    { weight: 1, arbitrary: fc.constantFrom('settle', 'reset', 'block') },
  ),
  client: fc.constantFrom('first', 'first', 'second'),
  through: fc.nat(2),
  cost: fc.constantFrom(0, 1, 1, 1, 1, 2),
  pauseMs: fc.oneof(fc.constantFrom(0, 0, 0, 1, 300, 999), fc.nat(1200)),
})
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

describe.each(Object.keys(algorithms) as AlgorithmName[])('%s', (algorithm) => {
  /** Three limiters, two of which share each policy. */
  function limitersOn(store: FailingStore, refusalCache: boolean | undefined) {
    const common = { algorithm, ...(algorithm === 'leaky-bucket' && { maxDelay: 500 }) }
    const first = { ...common, name: 'first', limit: 2, window: 2000 }
    const last = { ...common, name: 'last', limit: 2, window: 3000 }
    return [[first, last], [first], [last]].map((policies) =>
      createLimiter({
        prefix: 'sluice',
        store,
        policies,
        ...(refusalCache !== undefined && { refusalCache }),
      }),
    )
  }

  async function run(limiters: Limiter[], { act, client, through, cost }: Step): Promise<unknown> {
    const limiter = limiters[through] as Limiter
    if (act === 'settle') return limiter.settle(client, cost - 2)
    if (act === 'reset') return limiter.reset(client)
    if (act === 'block') return limiter.block(client, '3s')
    return unsigned(await limiter.consume(client, { cost }))
  }

  it.each([undefined, true])('refusalCache %p: the answer is that of the store', async (on) => {
    let cached = 0
    const property = fc.asyncProperty(
      fc.array(anyStep, { maxLength: 60, size: 'max' }),
      async (steps) => {
        const clock = manualClock()
        const [asked, spared] = [failingStore({ clock }), failingStore({ clock })]
        const truthful = limitersOn(asked, false)
        const caching = limitersOn(spared, on)
        for (const step of steps) {
          clock.advance(step.pauseMs)
          expect(await run(caching, step)).toEqual(await run(truthful, step))
        }
        cached += asked.calls - spared.calls
        asked.close()
        spared.close()
      },
    )
    await fc.assert(property, { numRuns: 30 })
    expect(cached).toBeGreaterThan(0)
  })
})
