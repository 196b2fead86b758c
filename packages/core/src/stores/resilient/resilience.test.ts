import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { SluiceError } from '../../errors/sluice-error.ts'
import { createLimiter } from '../../limiter/create-limiter.ts'
import type { Decision } from '../../limiter/decision.ts'
import { Policy } from '../../limiter/policy.ts'
import { StoreLimiter } from '../../limiter/store-limiter.ts'
import {
  type FailingStore,
  failingStore,
  type ManualClock,
  manualClock,
} from '../../testing/index.ts'
import type { Store, StoreResult } from '../store.ts'

let clock: ManualClock
let store: FailingStore
let warnings: string[]

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] })
  jest.spyOn(Math, 'random').mockReturnValue(0.5)
  clock = manualClock()
  jest.setSystemTime(clock())
  store = failingStore({ clock })
  warnings = []
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((_: string, { code }: { code: string }) => warnings.push(code)) as never)
})
afterEach(() => {
  store.close()
  jest.useRealTimers()
  jest.restoreAllMocks()
})

/** Lets so many ms pass on all clocks. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms)
  await jest.advanceTimersByTimeAsync(ms)
  await new Promise((resolve) => setImmediate(resolve))
}

const base = { limit: 5, window: '1h', algorithm: 'fixed-window' } as const
/** A request of these may take as long as a call may: no two share one. */
const aCallEach = { algorithm: 'sliding-log', limit: 10_000 }
const limiterOf = (options: object = {}) => createLimiter({ store, ...base, ...options })

/** Fails until the breaker is open. */
async function exhaust(limiter: ReturnType<typeof limiterOf>): Promise<void> {
  store.fail()
  for (let i = 0; i < 5; i += 1) {
    await limiter.consume(`nobody ${i}`)
    await pass(1)
  }
}

describe('a store that works', () => {
  it('decides', async () => {
    const limiter = limiterOf()
    expect(await limiter.consume('client')).toMatchObject({ source: 'store', remaining: 4 })
    expect(warnings).toEqual([])
  })
})

describe('calls of one turn', () => {
  it('come in their order, also where they are about several keys', async () => {
    const policies = ['user', 'address'].map((name) => new Policy('', { ...base, name }))
    const limiter = new StoreLimiter(policies, { store, deadline: 1000 })
    const chargesOf = (user: string) => {
      return policies.map((policy, i) => {
        return { key: i === 0 ? user : '203.0.113.7', limit: policy.limitFor(), cost: 1 }
      })
    }
    const first = await limiter.decide(chargesOf('ada'))
    const [second] = await Promise.all([
      limiter.decide(chargesOf('bob')),
      limiter.settleCharges(chargesOf('ada'), first),
    ])
    expect([second.remaining, (await limiter.preview(chargesOf('eve'))).remaining]).toEqual([3, 1])
    limiter.close()
  })
})

describe('a store that decides keys separately', () => {
  it('is given back what it grants too late to a request that another key refuses', async () => {
    const late: (() => void)[] = []
    const open: Store<'async'>['open'] = (...how) => {
      const ledger = store.open(...how)
      return {
        ...ledger,
        shard: (key) => Number(key === 'late'),
        async decide(requests, isPeek) {
          const charge = requests.at(-1)?.[0]
          if (charge?.key === 'late' && charge.cost > 0)
            await new Promise<void>((go) => late.push(go))
          return ledger.decide(requests, isPeek)
        },
        change: (...given) => ledger.change(...given),
      }
    }
    const policies = ['user', 'address'].map((name) => new Policy('', { ...base, name }))
    const limiter = new StoreLimiter(policies, { store: { ...store, open }, deadline: 100 })
    const [user, address] = policies.map((policy) => policy.limitFor())
    const chargesOf = (cost: number) => [
      { key: 'full', limit: user!, cost },
      { key: 'late', limit: address!, cost: Math.min(cost, 1) },
    ]
    await limiter.decide([chargesOf(5)[0]!, { ...chargesOf(0)[1]!, key: 'other' }])
    const refused = limiter.decide(chargesOf(1))
    await pass(150)
    expect((await refused).allowed).toBe(false)
    for (const go of late) go()
    await pass(1)
    const { policies: left } = await limiter.preview(chargesOf(0))
    expect(left.map(({ remaining }) => remaining)).toEqual([0, 5])
    limiter.close()
  })

  it('has bans of the first key alone', async () => {
    const open: Store<'async'>['open'] = (...how) => {
      const ledger = store.open(...how)
      const shard = (key: string) => Number(key === 'address')
      return { ...ledger, shard, change: (...given) => ledger.change(...given) }
    }
    const policies = [9, 1].map((limit) => new Policy('', { ...base, limit, name: `${limit}` }))
    const ban = { after: 1, within: '1d', for: ['1d'] } as const
    const limiter = new StoreLimiter(policies, { store: { ...store, open }, ban })
    const charges = ['user', 'address'].map((key, i) => {
      return { key, limit: policies[i]!.limitFor(), cost: 1 }
    })
    const decide = async () => (await limiter.decide(charges)).allowed
    expect([await decide(), await decide()]).toEqual([true, false])
    await pass(3_600_000)
    expect(await decide()).toBe(true)
    limiter.close()
  })

  it('has decided when the latest of them did', async () => {
    const open: Store<'async'>['open'] = (...how) => {
      const ledger = store.open(...how)
      return {
        ...ledger,
        shard: (key) => Number(key === 'ahead'),
        async decide(requests, isPeek) {
          const results = await ledger.decide(requests, isPeek)
          const aheadMs = requests[0]?.[0]?.key === 'ahead' ? 7 : 0
          return results.map((result) => ({ ...result, at: (result as StoreResult).at + aheadMs }))
        },
        change: (...given) => ledger.change(...given),
      }
    }
    const policies = ['user', 'address'].map((name) => new Policy('', { ...base, name }))
    const limiter = new StoreLimiter(policies, { store: { ...store, open } })
    const keys = ['behind', 'ahead']
    const charges = keys.map((key, i) => ({ key, limit: policies[i]!.limitFor(), cost: 1 }))
    const { at, policies: each } = await limiter.decide(charges)
    expect([at, ...each.map((one) => one.at)]).toEqual([clock() + 7, clock(), clock() + 7])
    limiter.close()
  })

  /** Has bob in a shard of its own, and notes the keys of each renewal. */
  function renewing() {
    const renewed: string[][] = []
    const open: Store<'async'>['open'] = (...how) => {
      const ledger = store.open(...how)
      const change: typeof ledger.change = (asked, told) => {
        if (asked.kind === 'renew') renewed.push(asked.requests.flat().map(({ key }) => key))
        return ledger.change(asked, told)
      }
      return { ...ledger, shard: (key) => Number(key === 'bob'), change }
    }
    return { open, renewed }
  }

  it('gets the slots of each shard in a renewal of their own', async () => {
    const { open, renewed } = renewing()
    const limiter = createLimiter({ store: { ...store, open }, concurrent: 5, hold: '30s' })
    for (const key of ['ada', 'bob', 'ada']) await limiter.acquire(key)
    await pass(10_000)
    expect(renewed).toEqual([['ada', 'ada'], ['bob']])
    limiter.close()
  })

  it('gets the slots of a key behind another one that has none', async () => {
    const { open, renewed } = renewing()
    const counted = new Policy('', { ...base, name: 'counted' })
    const held = ['held', 'further'].map((name) => {
      return new Policy('', { concurrent: 5, hold: '30s', name } as object)
    })
    const limiter = new StoreLimiter([counted, ...held], { store: { ...store, open } })
    const charges = ['ada', 'bob', 'cyd'].map((key, i) => {
      const limit = [counted, ...held][i]!.limitFor()
      return { key, limit, cost: 1, claim: i === 0 ? undefined : [7 + i] }
    })
    limiter.hold(charges, await limiter.decide(charges), () => {})
    await pass(10_000)
    expect(renewed).toEqual([['bob'], ['cyd']])
    limiter.close()
  })

  describe.each(['full', 'other'])('whose key %s comes first', (first) => {
    const policies = ['full', 'other'].map((name) => new Policy('', { ...base, name }))
    if (first === 'other') policies.reverse()
    const charges = policies.map((policy) => {
      return { key: policy.name, limit: policy.limitFor(), cost: 1 }
    })
    /** Its key `full` has nothing left, and each key has a shard of its own. The shard of `other` may fail. */
    async function open() {
      let isDown = false
      const open: Store<'async'>['open'] = (...how) => {
        const ledger = store.open(...how)
        const within = async <T>(asked: boolean, act: () => Promise<T>) => {
          if (asked && isDown) throw new Error('down')
          return act()
        }
        return {
          shard: (key) => Number(key === 'other'),
          decide: (requests, isPeek) =>
            within(requests.flat()[0]?.key === 'other', () => ledger.decide(requests, isPeek)),
          change: (change, told) => {
            const isOther = change.kind === 'settle' && change.charges[0]?.key === 'other'
            return within(isOther, () => ledger.change(change, told))
          },
        }
      }
      const limiter = new StoreLimiter(policies, { store: { ...store, open } })
      await limiter.decide(
        charges.map((each) => (each.key === 'full' ? { ...each, cost: 5 } : { ...each, cost: 0 })),
      )
      const fail = (fails: boolean) => {
        isDown = fails
      }
      const leftOf = (decision: Decision) =>
        Object.fromEntries(decision.policies.map(({ name, remaining }) => [name, remaining]))
      return { limiter, fail, leftOf }
    }

    it('shows what the other one has left, uncharged', async () => {
      const { limiter, leftOf } = await open()
      expect(leftOf(await limiter.preview(charges))).toEqual({ full: 0, other: 5 })
      const refused = await limiter.decide(charges)
      expect(refused.allowed).toBe(false)
      expect(leftOf(refused)).toEqual({ full: 0, other: 5 })
      limiter.close()
    })

    it('says who has decided: this process if it has decided any, or who refuses', async () => {
      const { limiter, fail } = await open()
      fail(true)
      expect((await limiter.decide(charges)).source).toBe('store')
      await limiter.reset('full')
      expect(await limiter.decide(charges)).toMatchObject({ allowed: true, source: 'local' })
      await limiter.reset('full')
      const large = charges.map((each) => ({ ...each, cost: each.key === 'other' ? 9 : 1 }))
      expect(await limiter.decide(large)).toMatchObject({ allowed: false, source: 'local' })
      limiter.close()
    })

    it('a probe charges the other one nothing', async () => {
      const { limiter, fail, leftOf } = await open()
      fail(true)
      for (let i = 0; i < 5; i += 1) {
        expect((await limiter.decide(charges)).allowed).toBe(false)
        await pass(1)
      }
      fail(false)
      await pass(250)
      const refused = await limiter.decide(charges)
      expect(refused.policies.map(({ source }) => source)).toContain('local')
      await pass(0)
      const decided = await limiter.preview(charges)
      expect(decided.policies.map(({ source }) => source)).toEqual(['store', 'store'])
      expect(leftOf(decided)).toEqual({ full: 0, other: 5 })
      limiter.close()
    })
  })

  it('says that a limit has refused, also where another key could not be decided', async () => {
    const open: Store<'async'>['open'] = (...how) => {
      const ledger = store.open(...how)
      return {
        ...ledger,
        shard: (key) => Number(key === 'failing'),
        async decide(requests, isPeek) {
          if (requests[0]?.[0]?.key === 'failing') throw new Error('down')
          return ledger.decide(requests, isPeek)
        },
        change: (...given) => ledger.change(...given),
      }
    }
    const policies = ['user', 'address'].map((name) => new Policy('', { ...base, limit: 1, name }))
    const options = { store: { ...store, open }, onStoreError: 'deny' } as const
    const limiter = new StoreLimiter(policies, options)
    const decide = (...keys: string[]) =>
      limiter.decide(keys.map((key, i) => ({ key, limit: policies[i]!.limitFor(), cost: 1 })))
    expect((await decide('ada', 'failing')).source).toBe('deny')
    await decide('bob', 'any')
    const { allowed, source } = await decide('bob', 'failing')
    expect([allowed, source]).toEqual([false, 'store'])
    limiter.close()
  })
})

describe('a store that fails', () => {
  it('is replaced by counts on its own clock', async () => {
    const limiter = limiterOf({ limit: 1 })
    store.fail()
    const allowed = async () => (await limiter.consume('client')).allowed
    expect([await allowed(), await allowed()]).toEqual([true, false])
    // That of this process stands still.
    clock.advance(3_600_000)
    expect(await allowed()).toBe(true)
  })

  it('is replaced by this process, which continues from what it has admitted', async () => {
    const limiter = limiterOf()
    for (let i = 0; i < 3; i += 1) await limiter.consume('client')
    store.fail()
    const decisions = []
    for (let i = 0; i < 3; i += 1) decisions.push(await limiter.consume('client'))
    expect(decisions.map(({ allowed, remaining, source }) => [allowed, remaining, source])).toEqual(
      [
        [true, 1, 'local'],
        [true, 0, 'local'],
        [false, 0, 'local'],
      ],
    )
    expect(await limiter.peek('client')).toMatchObject({ allowed: false, source: 'local' })
  })

  it('is replaced so also once another limiter on it has been closed', async () => {
    const [limiter, other] = [limiterOf(), limiterOf({ window: '2h' }), limiterOf({ window: '3h' })]
    for (let i = 0; i < 3; i += 1) await limiter.consume('client')
    other.close()
    store.fail()
    expect(await limiter.consume('client')).toMatchObject({ remaining: 1, source: 'local' })
  })

  it.each(['sliding-window', 'sliding-log', 'token-bucket', 'leaky-bucket'] as const)(
    'is replaced with a quota of the same algorithm: %s',
    async (algorithm) => {
      const limiter = limiterOf({
        algorithm,
        window: '1m',
        ...(algorithm === 'leaky-bucket' && { maxDelay: '1m' }),
      })
      for (let i = 0; i < 3; i += 1) await limiter.consume('client')
      store.fail()
      const allowed = []
      for (let i = 0; i < 6; i += 1) allowed.push((await limiter.consume('client')).allowed)
      const left = algorithm === 'leaky-bucket' ? 3 : 2
      expect(allowed.filter(Boolean)).toHaveLength(left)
    },
  )

  it('admits exactly the limit of many simultaneous requests', async () => {
    store.fail()
    const limiter = limiterOf({ limit: 30 })
    const all = await Promise.all(Array.from({ length: 60 }, () => limiter.consume('client')))
    expect(all.filter(({ allowed }) => allowed)).toHaveLength(30)
  })

  it('is replaced for each of two requests of a turn, with separate answers', async () => {
    const limiter = limiterOf()
    await exhaust(limiter)
    const both = await Promise.all([limiter.consume('client'), limiter.consume('client')])
    expect(both.map(({ remaining }) => remaining)).toEqual([4, 3])
  })

  it('is no longer called after five failures, with one warning', async () => {
    const limiter = limiterOf()
    await exhaust(limiter)
    expect([store.calls, warnings]).toEqual([5, ['SLUICE_STORE_DOWN']])
    for (let i = 0; i < 100; i += 1) await limiter.consume('client')
    expect([store.calls, warnings]).toEqual([5, ['SLUICE_STORE_DOWN']])
  })

  it('is given up immediately if its set-up can never work', async () => {
    store.fail(
      new SluiceError({
        code: 'SLUICE_REDIS_FORBIDDEN',
        option: 'store',
        expected: 'rights',
        received: 'none',
        fix: 'Grant them.',
      }),
    )
    expect((await limiterOf().consume('client')).source).toBe('local')
    expect([store.calls, warnings]).toEqual([1, ['SLUICE_STORE_DOWN']])
  })

  it.each([undefined, null, 'text'])('may reject with %p', async (reason) => {
    const rejecting = {
      ...store,
      open: () => ({ decide: () => Promise.reject(reason), change: () => Promise.reject(reason) }),
    }
    const other = createLimiter({ ...base, store: rejecting as never })
    for (let i = 0; i < 6; i += 1) {
      expect((await other.consume('client')).source).toBe('local')
      await pass(1)
    }
    expect(warnings).toEqual(['SLUICE_STORE_DOWN'])
  })

  it('may also throw synchronously', async () => {
    const throwing = {
      ...store,
      open: () => ({
        decide: () => {
          throw new Error('thrown synchronously')
        },
        change: () => Promise.resolve(),
      }),
    }
    const limiter = createLimiter({ ...base, store: throwing as never })
    expect((await limiter.consume('client')).source).toBe('local')
  })

  it('decides again by itself, once a probe has succeeded', async () => {
    const limiter = limiterOf()
    await limiter.consume('client')
    await exhaust(limiter)
    store.recover()
    await pass(248)
    await limiter.consume('client')
    expect([store.calls, warnings]).toEqual([6, ['SLUICE_STORE_DOWN']])
    await pass(1)
    // The one that probes does not wait for it.
    expect((await limiter.consume('client')).source).toBe('local')
    await pass(0)
    expect(warnings).toEqual(['SLUICE_STORE_DOWN', 'SLUICE_STORE_UP'])
    // The store has had the first, what the probe warnings, and this one.
    expect(await limiter.consume('client')).toMatchObject({ source: 'store', remaining: 2 })
  })

  it('is probed by one request at a time, further and further apart', async () => {
    const limiter = limiterOf({ limit: 10_000 })
    await exhaust(limiter)
    const asked = () => store.calls - 5
    const counts: number[] = []
    for (const ms of [250, 500, 1000, 2000, 2000]) {
      await pass(ms)
      await Promise.all(Array.from({ length: 20 }, () => limiter.consume('client')))
      counts.push(asked())
    }
    expect(counts).toEqual([1, 2, 3, 4, 5])
  })

  it('is not charged by a probe with what was refused', async () => {
    const limiter = limiterOf({ limit: 1 })
    await exhaust(limiter)
    await limiter.consume('client')
    store.recover()
    await pass(250)
    expect((await limiter.consume('client')).allowed).toBe(false)
    await pass(0)
    expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'store' })
  })
})

describe('a store that hangs', () => {
  it('gets at most eight probes at a time, and is still probed if it loses them', async () => {
    const limiter = limiterOf({ limit: 10_000 })
    await exhaust(limiter)
    store.recover()
    store.hang()
    const before = store.calls
    const probe = async (seconds: number) => {
      for (let i = 0; i < seconds; i += 1) {
        await pass(1000)
        await limiter.consume('client')
      }
      return store.calls - before
    }
    expect(await probe(40)).toBe(8)
    expect(await probe(20)).toBe(16)
    store.recover()
    await probe(4)
    expect((await limiter.consume('client')).source).toBe('store')
  })

  it('delays a request until the deadline, and is not called again for the same request', async () => {
    const limiter = limiterOf({ deadline: 80 })
    // What is loaded for a remote store is not part of the deadline.
    await pass(0)
    store.hang()
    const decided: string[] = []
    void limiter.consume('client').then(({ source }) => decided.push(source))
    await pass(79)
    expect(decided).toEqual([])
    await pass(1)
    expect([decided, store.calls]).toEqual([['local'], 1])
    store.recover()
    await pass(0)
    expect(decided).toEqual(['local'])
    // Late, but charged: no call is repeated.
    expect(await limiter.consume('client')).toMatchObject({ source: 'store', remaining: 3 })
  })

  it('and answers each time too late is given up, as one that does not answer', async () => {
    const limiter = limiterOf({ limit: 100 })
    await pass(0)
    for (let i = 0; i < 5; i += 1) {
      expect(warnings).toEqual([])
      store.hang()
      const decided = limiter.consume('client')
      await pass(100)
      expect((await decided).source).toBe('local')
      store.recover()
      await pass(1)
    }
    expect(warnings).toEqual(['SLUICE_STORE_DOWN'])
  })

  it('has at most a thousand calls in progress: further calls wait, within their deadline', async () => {
    const limiter = limiterOf(aCallEach)
    store.hang()
    let decided = 0
    for (let i = 0; i < 1500; i += 1)
      void limiter.consume('client').then(() => {
        decided += 1
      })
    await pass(0)
    expect([decided, store.calls]).toEqual([0, 1000])
    await pass(100)
    expect([decided, warnings]).toEqual([1500, ['SLUICE_STORE_DOWN']])
  })

  it('for a moment: the calls that waited are sent in order, and none is given up', async () => {
    const limiter = limiterOf({ ...aCallEach, onStoreError: 'deny' })
    store.hang()
    const all = Array.from({ length: 2500 }, () => limiter.consume('client'))
    await pass(50)
    store.recover()
    const decisions = await Promise.all(all)
    expect(decisions.map(({ source, remaining }) => [source, remaining])).toEqual(
      decisions.map((_, i) => ['store', 9999 - i]),
    )
    expect(warnings).toEqual([])
  })

  it('and has answered too late twelve hundred times is not given up for that', async () => {
    const limiter = limiterOf()
    await pass(0)
    for (let burst = 0; burst < 2; burst += 1) {
      store.hang()
      for (let i = 0; i < 600; i += 1) void limiter.settle(`client ${i}`, 1).catch(() => {})
      await pass(100)
      store.recover()
      await pass(1)
    }
    expect(warnings).toEqual([])
  })

  it('that has lost its answers is used again when it works', async () => {
    let loses = true
    const lossy: Store<'async'> = {
      ...store,
      open(...of) {
        const ledger = store.open(...of)
        const decide: typeof ledger.decide = (...asked) =>
          loses ? new Promise(() => {}) : ledger.decide(...asked)
        return { ...ledger, decide }
      },
    }
    const limiter = createLimiter({ ...base, store: lossy, limit: 10_000 })
    for (let i = 0; i < 1000; i += 1) void limiter.consume('client')
    await pass(100)
    loses = false
    await pass(250)
    await limiter.consume('client')
    await pass(0)
    expect((await limiter.consume('client')).source).toBe('store')
  })

  it('is probed again immediately when a late answer has come', async () => {
    const limiter = limiterOf()
    await exhaust(limiter)
    store.recover()
    store.hang()
    await pass(250)
    await limiter.consume('client')
    await pass(100)
    store.recover()
    await pass(0)
    // Too late an answer is none that a request could wait for.
    expect((await limiter.consume('client')).source).toBe('local')
    await pass(0)
    expect((await limiter.consume('client')).source).toBe('store')
  })
})

describe('onStoreError', () => {
  it("'allow' lets all requests through, and says so", async () => {
    const limiter = limiterOf({ limit: 0, onStoreError: 'allow' })
    store.fail()
    expect(await limiter.consume('client')).toEqual({
      allowed: true,
      limit: Infinity,
      remaining: Infinity,
      resetMs: 0,
      retryAfterMs: 0,
      delayMs: 0,
      policies: [],
      source: 'allow',
      at: clock(),
    })
    expect(await limiter.peek('client')).toMatchObject({ allowed: true, source: 'allow' })
  })

  it("'deny' refuses all, for some seconds", async () => {
    const limiter = limiterOf({ onStoreError: 'deny' })
    store.fail()
    expect(await limiter.consume('client')).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterMs: 5000,
      policies: [],
      source: 'deny',
    })
  })

  it('may differ between limiters that share the state of the store', async () => {
    const browsing = limiterOf({ onStoreError: 'allow', prefix: 'browsing' })
    const billing = limiterOf({ onStoreError: 'deny', prefix: 'billing' })
    await exhaust(browsing)
    expect((await billing.consume('client')).source).toBe('deny')
    expect([store.calls, warnings]).toEqual([5, ['SLUICE_STORE_DOWN']])
  })

  it("'local': no ban counts a look", async () => {
    const limiter = limiterOf({ limit: 1, ban: { after: 2, within: '1h', for: ['1h'] } })
    await exhaust(limiter)
    await limiter.consume('client')
    for (let i = 0; i < 3; i += 1) await limiter.peek('client')
    expect((await limiter.consume('client')).ban).toBeUndefined()
  })
})

describe('localShare', () => {
  it.each([
    ['fixed-window', 12, 3],
    ['sliding-log', 12, 3],
    ['sliding-window', 13, 3],
    ['token-bucket', 12, 3],
    ['fixed-window', 1, 1],
    ['token-bucket', 2, 1],
    ['fixed-window', 0, 0],
  ])('of a quarter, %s with limit %i: %i', async (algorithm, limit, admitted) => {
    const limiter = limiterOf({ limit, algorithm, localShare: 0.25 })
    store.fail()
    const all = await Promise.all(Array.from({ length: 20 }, () => limiter.consume('client')))
    expect(all.filter(({ allowed }) => allowed)).toHaveLength(admitted)
    // The client still sees the whole limit.
    expect(all[0]!.limit).toBe(limit)
  })

  it('counts what this process has admitted before', async () => {
    const limiter = limiterOf({ limit: 12, localShare: 0.25 })
    await limiter.consume('client')
    await limiter.consume('client')
    store.fail()
    const all = await Promise.all(Array.from({ length: 20 }, () => limiter.consume('client')))
    expect(all.filter(({ allowed }) => allowed)).toHaveLength(1)
  })

  it('of another limiter on the same policy counts separately', async () => {
    const bucket = { limit: 12, algorithm: 'token-bucket' }
    store.fail()
    await limiterOf(bucket).consume('client', { cost: 3 })
    const limiter = limiterOf({ ...bucket, localShare: 0.25 })
    const all = await Promise.all(Array.from({ length: 20 }, () => limiter.consume('client')))
    expect(all.filter(({ allowed }) => allowed)).toHaveLength(3)
  })

  it('applies to the burst of a bucket too', async () => {
    const limiter = limiterOf({ limit: 4, algorithm: 'token-bucket', burst: 40, localShare: 0.5 })
    store.fail()
    const all = await Promise.all(Array.from({ length: 50 }, () => limiter.consume('client')))
    expect(all.filter(({ allowed }) => allowed)).toHaveLength(20)
  })
})

it('each of separate keys has the share of its own policy', async () => {
  const open: Store<'async'>['open'] = (...how) => {
    const ledger = store.open(...how)
    const shard = (key: string) => Number(key === 'address')
    return { ...ledger, shard, change: (...given) => ledger.change(...given) }
  }
  const policies = [
    new Policy('', { ...base, name: 'window', limit: 100 }),
    new Policy('', { ...base, name: 'bucket', limit: 4, algorithm: 'token-bucket', burst: 40 }),
  ]
  const limiter = new StoreLimiter(policies, { store: { ...store, open }, localShare: 0.5 })
  store.fail()
  const charges = ['user', 'address'].map((key, i) => {
    return { key, limit: policies[i]!.limitFor(), cost: 1 }
  })
  const all = await Promise.all(Array.from({ length: 50 }, () => limiter.decide(charges)))
  expect(all.filter(({ allowed }) => allowed)).toHaveLength(20)
  limiter.close()
})

describe('what a failing store receives', () => {
  it.each(['block', 'reset', 'settle'] as const)('%s holds here, and rejects', async (act) => {
    const limiter = limiterOf()
    // A block must be seen even if quota is left.
    for (let i = 0; i < (act === 'block' ? 1 : 5); i += 1) await limiter.consume('client')
    store.fail()
    const acts = {
      block: () => limiter.block('client', '1m'),
      reset: () => limiter.reset('client'),
      settle: () => limiter.settle('client', -2),
    }
    await expect(acts[act]()).rejects.toMatchObject({
      name: 'StoreError',
      code: 'SLUICE_STORE_UNAVAILABLE',
      operation: act,
      cause: expect.objectContaining({ message: 'the store fails' }),
    })
    const { allowed, remaining } = await limiter.consume('client')
    expect([allowed, remaining]).toEqual(
      { block: [false, 0], reset: [true, 4], settle: [true, 1] }[act],
    )
  })

  it('a block and a reset are tried even while requests are not', async () => {
    const limiter = limiterOf()
    await exhaust(limiter)
    store.recover()
    await limiter.block('client', '1m')
    await expect(limiter.settle('client', -1)).rejects.toMatchObject({
      code: 'SLUICE_STORE_UNAVAILABLE',
      cause: expect.objectContaining({ message: 'the store fails' }),
    })
    expect(store.calls).toBe(6)
  })

  it('a settlement holds here also while the store is not called', async () => {
    const limiter = limiterOf()
    const { at, source } = await limiter.consume('client', { cost: 4 })
    await exhaust(limiter)
    await expect(limiter.settle('client', -3, { at, source })).rejects.toThrow('did not confirm')
    expect(await limiter.peek('client')).toMatchObject({ source: 'local', remaining: 4 })
  })

  it('what this process has admitted alone, is corrected here alone', async () => {
    const limiter = limiterOf()
    await limiter.consume('client', { cost: 3 })
    store.fail()
    const { at, source } = await limiter.consume('client', { cost: 2 })
    store.recover()
    await limiter.settle('client', -2, { at, source })
    expect(await limiter.peek('client')).toMatchObject({ source: 'store', remaining: 2 })
    store.fail()
    expect(await limiter.peek('client')).toMatchObject({ source: 'local', remaining: 2 })
  })

  it('a probe charges a dry run too where nobody has decided', async () => {
    const policies = [
      { name: 'all', ...base },
      { name: 'dry', ...base, dryRun: true },
    ]
    const limiter = createLimiter({ store, policies, onStoreError: 'allow' })
    store.fail()
    for (let i = 0; i < 5; i += 1) {
      await limiter.consume(`nobody ${i}`)
      await pass(1)
    }
    store.recover()
    await pass(250)
    expect((await limiter.consume('client')).source).toBe('allow')
    await pass(0)
    const { source, policies: said } = await limiter.peek('client')
    expect([source, ...said.map(({ remaining }) => remaining)]).toEqual(['store', 4, 4])
  })

  it('a probe charges nothing that a dry run would refuse', async () => {
    const policies = [
      { name: 'all', ...base },
      { name: 'dry', ...base, limit: 1, dryRun: true },
    ]
    const limiter = createLimiter({ store, policies })
    await exhaust(limiter)
    await limiter.consume('client')
    store.recover()
    await pass(250)
    expect((await limiter.consume('client')).source).toBe('local')
    await pass(0)
    const { source, policies: said } = await limiter.peek('client')
    expect([source, ...said.map(({ remaining }) => remaining)]).toEqual(['store', 4, 1])
  })

  it('a probe reserves nothing that this process has reserved alone', async () => {
    const limiter = createLimiter({ store, ...base, reserve: true })
    store.fail()
    for (let i = 0; i < 5; i += 1) {
      await limiter.acquire(`nobody ${i}`)
      await pass(1)
    }
    store.recover()
    await pass(250)
    const estimate = await limiter.acquire('client', { cost: 3 })
    expect(estimate.source).toBe('local')
    await pass(0)
    await estimate.settle(1)
    expect(await limiter.peek('client')).toMatchObject({ source: 'store', remaining: 5 })
    limiter.close()
  })

  it('what the store has reserved is counted here by what it has really cost', async () => {
    const limiter = createLimiter({ store, ...base, reserve: true })
    const estimate = await limiter.acquire('client', { cost: 3 })
    await estimate.settle(1)
    store.fail()
    expect(await limiter.peek('client')).toMatchObject({ source: 'local', remaining: 4 })
    limiter.close()
  })

  it('a settlement that is repeated is counted here once', async () => {
    const policy = new Policy('', base)
    const limiter = new StoreLimiter([policy], { store, deadline: 1000 })
    const charge = { key: 'client', limit: policy.limitFor(), cost: 1 }
    const decided = await limiter.decide([charge])
    store.fail()
    for (const isRepeated of [false, true]) {
      const settled = limiter.settleCharges([charge], decided, undefined, isRepeated)
      await expect(settled).rejects.toThrow()
    }
    expect(await limiter.preview([charge])).toMatchObject({ source: 'local', remaining: 2 })
    limiter.close()
  })
})

describe('a remembered refusal', () => {
  it('still holds during an outage, until its wait is over', async () => {
    const minute = { algorithm: 'sliding-log', window: '1m', limit: 1 }
    const limiter = limiterOf({ ...minute, onStoreError: 'allow' })
    await limiter.consume('client')
    await limiter.consume('client')
    await exhaust(limiter)
    await pass(50_000)
    expect(await limiter.consume('client')).toMatchObject({ allowed: false, source: 'cache' })
    await pass(10_000)
    expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'allow' })
  })
})
