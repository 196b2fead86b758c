import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { SluiceError } from '../../errors/sluice-error.ts'
import type { Change, Ledger } from '../../stores/store.ts'
import {
  type FailingStore,
  failingStore,
  type ManualClock,
  manualClock,
} from '../../testing/index.ts'
import { createLimiter } from '../create-limiter.ts'
import type { Limiter } from '../limiter.ts'
import type { LimiterOptions } from '../limiter-options.generated.ts'

const LEASE_MS = 250

let clock: ManualClock
let store: FailingStore
let limiters: Limiter[]

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] })
  clock = manualClock()
  jest.setSystemTime(clock())
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  store = failingStore({ clock })
  limiters = []
})
afterEach(() => {
  for (const limiter of limiters) limiter.close()
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

const base = { prefix: 'sluice', limit: 1000, window: '1m', algorithm: 'fixed-window' } as const

/** Waits for a condition, up to ten seconds. */
async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!holds() && performance.now() < deadline)
    await new Promise((resolve) => setImmediate(resolve))
  expect(holds()).toBe(true)
}

/** A limiter, as if in a process of its own. */
function limiterOf(options: Partial<LimiterOptions> = {}, on: object = store): Limiter<'async'> {
  const limiter = createLimiter({
    ...base,
    lease: LEASE_MS,
    ...options,
    store: on,
  } as never) as never
  limiters.push(limiter)
  return limiter
}

/** Notes the changes and the charges that the store is asked for, in their order. */
function noting() {
  const asked: (Change | { kind: 'decide'; costs: number[] })[] = []
  const open: FailingStore['open'] = (...how) => {
    const ledger = store.open(...how)
    return {
      decide(requests, isPeek) {
        asked.push({ kind: 'decide', costs: requests.map(([charge]) => charge?.cost as number) })
        return ledger.decide(requests, isPeek)
      },
      change(change, told) {
        asked.push(change)
        return ledger.change(change, told)
      },
    } satisfies Ledger<'async'>
  }
  const given = () =>
    asked.flatMap((each) => (each.kind === 'settle' ? (each.charges[0]?.cost as number) : []))
  return { asked, given, store: { ...store, open, clock } }
}

/** So many requests, one after the other; one each `everyMs`. */
async function use(limiter: Limiter, times: number, everyMs = 0) {
  const decisions = []
  for (let i = 0; i < times; i += 1) {
    decisions.push(await limiter.consume('client'))
    if (everyMs > 0) await pass(everyMs)
  }
  return decisions
}

const sum = (units: readonly number[]) => units.reduce((all, each) => all + each, 0)
const left = async (limiter: Limiter) => (await limiter.peek('client')).remaining

describe('a busy key', () => {
  it('is decided here from what was taken in advance, with the numbers of the store', async () => {
    const [leased, plain] = [limiterOf(), limiterOf({ lease: undefined, prefix: 'plain' } as never)]
    const decisions = await use(leased, 40)
    const shown = ({ allowed, limit, remaining, resetMs }: (typeof decisions)[0]) => {
      return { allowed, limit, remaining, resetMs }
    }
    expect(decisions.map(shown)).toEqual((await use(plain, 40)).map(shown))
    expect(decisions.slice(0, 5).map(({ source }) => source)).toEqual([
      'store',
      'store',
      'store',
      'store',
      'lease',
    ])
    expect(await left(leased)).toBe(960)
  })

  it('takes a tenth of the calls, or fewer, at a steady load', async () => {
    const limiter = limiterOf({ limit: 100_000 })
    await use(limiter, 500, 1)
    const before = store.calls
    await use(limiter, 2000, 1)
    // Eight leases: each is taken in one call, and perhaps given back in the same turn.
    expect(store.calls - before).toBeLessThanOrEqual(2 * (2000 / LEASE_MS + 2))
  })

  it('takes no more than was used in the time of a lease, and than a quarter of what remains', async () => {
    const noted = noting()
    const limiter = limiterOf({ limit: 100 }, noted.store)
    await use(limiter, 90)
    let used = 0
    let remaining = 100
    for (const each of noted.asked) {
      if (each.kind !== 'decide') continue
      const [own, ahead = 0] = each.costs as [number, number?]
      expect(ahead).toBeLessThanOrEqual(Math.min(used + 1, (remaining - own) / 4))
      used += own + ahead
      remaining -= own + ahead
    }
    expect(remaining).toBeLessThanOrEqual(10)
    expect(await left(limiter)).toBe(10)
  })

  it('is refused by the store, when every unit is used', async () => {
    const limiter = limiterOf({ limit: 100 })
    const decisions = await use(limiter, 101)
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100)
    const { allowed, source, retryAfterMs } = decisions[100]!
    expect([allowed, source, retryAfterMs]).toEqual([false, 'store', 60_000 - (clock() % 60_000)])
  })

  it('is refused from memory for no longer than a lease: others may give units back', async () => {
    const [limiter, other] = [limiterOf({ limit: 100 }), limiterOf({ limit: 100 })]
    await use(other, 8)
    const decisions = await use(limiter, 100)
    const refused = decisions.find(({ allowed }) => !allowed)
    expect(refused?.source).toBe('store')
    const before = store.calls
    expect((await use(limiter, 50)).every(({ source }) => source === 'cache')).toBe(true)
    expect(store.calls).toBe(before)
    other.close()
    await pass(LEASE_MS)
    expect((await use(limiter, 1))[0]).toMatchObject({ allowed: true, source: 'store' })
  })

  it('is served in full by the store where a lease has less than it costs', async () => {
    const limiter = limiterOf({ limit: 100 })
    await use(limiter, 8)
    const large = await limiter.consume('client', { cost: 92 })
    expect([large.allowed, large.remaining]).toEqual([true, 0])
  })

  it('has a preview that counts what is leased', async () => {
    const limiter = limiterOf({ limit: 10 })
    const [decided] = (await use(limiter, 5)).slice(-1)
    expect(await limiter.peek('client')).toMatchObject({ allowed: true, remaining: 5 })
    expect(decided?.remaining).toBe(5)
  })

  it('is charged what a settlement corrects', async () => {
    const limiter = limiterOf()
    const [decision] = (await use(limiter, 6)).slice(-1)
    expect(decision?.source).toBe('lease')
    await limiter.settle('client', 10)
    expect((await limiter.consume('client')).remaining).toBe(983)
    const { at, source } = decision!
    await limiter.settle('client', -1, { at, source })
    expect(await left(limiter)).toBe(984)
  })
})

describe('a lease', () => {
  it('ends in time, and is given back once, with the one after it', async () => {
    const noted = noting()
    const limiter = limiterOf({}, noted.store)
    await use(limiter, 5)
    expect(await left(limiter)).toBe(995)
    await pass(LEASE_MS)
    const [decision] = await use(limiter, 1)
    expect([decision?.source, decision?.remaining]).toEqual(['store', 994])
    expect(noted.asked.slice(-2).map(({ kind }) => kind)).toEqual(['settle', 'decide'])
    limiter.close()
    await pass(0)
    const taken = noted.asked.flatMap((each) => (each.kind === 'decide' ? each.costs.slice(1) : []))
    // The fifth request was admitted from the first lease.
    expect(sum(noted.given())).toBe(1 - sum(taken))
    expect(taken.length).toBe(2)
    expect(await left(limiter)).toBe(994)
  })

  it('that nobody asks for is given back in the background', async () => {
    jest.useRealTimers()
    const noted = noting()
    const limiter = limiterOf({ lease: 10 }, noted.store)
    await use(limiter, 5)
    expect(noted.given()).toEqual([])
    clock.advance(20)
    await until(() => noted.given().length > 0)
    expect(await left(limiter)).toBe(995)
    limiter.close()
    expect(noted.given()).toHaveLength(1)
  })

  it('is counted from when the store was asked', async () => {
    const limiter = limiterOf({ deadline: '10s' })
    await use(limiter, 3)
    store.hang()
    const fourth = limiter.consume('client')
    await pass(200)
    store.recover()
    await fourth
    expect((await use(limiter, 1))[0]?.source).toBe('lease')
    await pass(LEASE_MS - 200)
    expect((await use(limiter, 1))[0]?.source).toBe('store')
  })

  it('shows what is left after a later call, whose answer has come before', async () => {
    let letTake = () => {}
    const open: FailingStore['open'] = (...how) => {
      const ledger = store.open(...how)
      return {
        change: (...given) => ledger.change(...given),
        async decide(requests, isPeek) {
          const results = await ledger.decide(requests, isPeek)
          if (requests.length > 1) await new Promise<void>((go) => (letTake = go))
          return results
        },
      }
    }
    const limiter = limiterOf({ deadline: '10s' }, { ...store, open })
    await use(limiter, 3)
    const fourth = limiter.consume('client')
    await new Promise((resolve) => setImmediate(resolve))
    expect((await limiter.consume('client', { cost: 100 })).allowed).toBe(true)
    letTake()
    await fourth
    const [decision] = await use(limiter, 1)
    expect([decision?.source, decision?.remaining]).toEqual(['lease', 895])
  })

  it('ends with its window', async () => {
    clock.set(60_000 * 30_000_000 - 100)
    const limiter = limiterOf({ limit: 100 })
    await use(limiter, 10)
    expect((await use(limiter, 1))[0]?.source).toBe('lease')
    await pass(100)
    const decisions = await use(limiter, 101)
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100)
    expect(decisions[0]).toMatchObject({ source: 'store', remaining: 99 })
  })

  it.each(['block', 'reset', 'override'])('ends with a %s of the key', async (method) => {
    const limiter = limiterOf()
    await use(limiter, 6)
    if (method === 'block') await limiter.block('client', '1m')
    else if (method === 'reset') await limiter.reset('client')
    else await limiter.override('client', { limit: 3 })
    const [decision] = await use(limiter, 1)
    expect(decision).toMatchObject({ source: 'store', allowed: method === 'reset' })
    if (method === 'reset') expect(decision?.remaining).toBe(999)
  })

  it('that was on its way when the key was blocked is not used', async () => {
    const limiter = limiterOf()
    await use(limiter, 3)
    store.hang()
    const fourth = limiter.consume('client')
    await new Promise((resolve) => setImmediate(resolve))
    const blocked = limiter.block('client', '1m')
    await new Promise((resolve) => setImmediate(resolve))
    store.recover()
    await Promise.all([fourth, blocked])
    expect(await limiter.consume('client')).toMatchObject({ allowed: false, source: 'store' })
  })

  it('is given back when the limiter is closed', async () => {
    const limiter = limiterOf()
    await use(limiter, 5)
    limiter.close()
    await pass(0)
    expect(await left(limiterOf())).toBe(995)
  })

  it('of several policies is of all of them: who refuses one refuses the request', async () => {
    const policies = [
      { name: 'burst', limit: 20, window: '1s' },
      { name: 'sustained', limit: 1000, window: '1h' },
    ] as const
    const limiter = createLimiter({ store, prefix: 'sluice', policies, lease: LEASE_MS })
    limiters.push(limiter)
    const decisions = await use(limiter, 21)
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(20)
    expect(decisions[9]?.source).toBe('lease')
    const { policies: shown } = await limiter.peek('client')
    expect(shown.map(({ remaining }) => remaining)).toEqual([0, 980])
  })
})

describe('an answer that does not come', () => {
  it('is neither admitted from nor given back', async () => {
    const noted = noting()
    const limiter = limiterOf({ deadline: 100, onStoreError: 'deny' }, noted.store)
    await use(limiter, 3)
    store.hang()
    const late = limiter.consume('client')
    await pass(150)
    expect((await late).source).toBe('deny')
    store.recover()
    await pass(4 * LEASE_MS)
    expect(noted.given()).toEqual([])
    const [decision] = await use(limiter, 1)
    expect(decision?.source).toBe('store')
  })

  it('leaves the count of this process as it would be without leases', async () => {
    const limiter = limiterOf({ limit: 40, deadline: 100 })
    await use(limiter, 5)
    store.fail()
    const decisions = []
    for (let i = 0; i < 60; i += 1) decisions.push(await limiter.consume('client'))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(35)
  })
})

describe('other keys', () => {
  it('are decided by the store, one call each, as without leases', async () => {
    const limiter = limiterOf()
    for (let i = 0; i < 300; i += 1) {
      const { source } = await limiter.consume(`client ${i % 100}`)
      expect(source).toBe('store')
    }
    expect(store.calls).toBe(300)
  })

  it('do not make a busy one forgotten, and take no memory without bound', async () => {
    const limiter = limiterOf({ limit: 1_000_000 })
    await use(limiter, 10)
    for (let i = 0; i < 25_000; i += 1) {
      await limiter.consume(`adversary ${i}`)
      if (i % 1000 === 0) await limiter.consume('client')
    }
    expect((await limiter.consume('client')).source).toBe('lease')
  })

  it('of unusual length are not leased', async () => {
    const limiter = limiterOf()
    for (let i = 0; i < 10; i += 1)
      expect((await limiter.consume('x'.repeat(257))).source).toBe('store')
  })
})

describe('the option', () => {
  const remote = () => failingStore()
  const errorOf = (options: object): Pick<SluiceError, 'code' | 'option' | 'expected'> => {
    try {
      createLimiter({ ...base, lease: '250ms', store: remote(), ...options } as never).close()
    } catch (error) {
      const { code, option, expected } = error as SluiceError
      return { code, option, expected }
    }
    throw new Error('it was taken')
  }

  it.each<[string, object]>([
    ['a store in this process', { store: undefined }],
    ['window of 200 ms', { window: 200 }],
    ['ban', { ban: { after: 1, within: '1m', for: ['1m'] } }],
    ['reserve', { reserve: true }],
    ['algorithm', { algorithm: 'leaky-bucket' }],
    ['live', { name: 'api', live: true }],
    ['alertAt', { alertAt: [0.5] }],
    ['enforce', { enforce: 0.5 }],
  ])('contradicts %s in %j', (named, options) => {
    const expected = expect.stringContaining(named)
    const error = { code: 'SLUICE_OPTION_CONFLICT', option: 'lease', expected }
    expect(errorOf(options)).toEqual(error)
  })

  it('contradicts slots and dry runs', () => {
    const { limit, window, algorithm, ...others } = base
    const concurrent = { ...others, lease: '250ms', store: remote(), concurrent: 5 } as never
    expect(() => createLimiter(concurrent)).toThrow(/concurrent/)
    const policies = [{ name: 'trial', limit, window, dryRun: true }]
    const dry = { ...others, lease: '250ms', store: remote(), policies } as never
    expect(() => createLimiter(dry)).toThrow(/policies\[0\]\.dryRun/)
  })

  it.each([9, 10_001, '250'])('refuses %p', (lease) => {
    expect(errorOf({ lease }).option).toBe('lease')
  })
})
