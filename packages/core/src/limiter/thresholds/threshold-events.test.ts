import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import { ALGORITHM_NAMES } from '../../algorithms/index.ts'
import {
  createLimiter,
  type Decision,
  type LimiterOptions,
  memoryStore,
  type Store,
  type ThresholdEvent,
} from '../../index.ts'
import { failingStore, type ManualClock, manualClock } from '../../testing/index.ts'
import { type Heard, listen } from '../../testing/listen.ts'
import { Policy } from '../policy.ts'
import { StoreLimiter } from '../store-limiter.ts'

const DAY_MS = 86_400_000
const DAY = { limit: 10, window: '1d', algorithm: 'fixed-window', alertAt: [0.8, 1] } as const

let clock: ManualClock
let heard: Heard<ThresholdEvent>
let warned: unknown[]
beforeEach(() => {
  clock = manualClock()
  heard = listen('sluice:threshold')
  warned = []
  jest.spyOn(process, 'emitWarning').mockImplementation(((
    _: string,
    { code }: { code: string },
  ) => {
    warned.push(code)
  }) as typeof process.emitWarning)
})
afterEach(() => {
  heard.stop()
  jest.restoreAllMocks()
})

const memory = () => memoryStore({ clock })
const limiterOf = (options: object = {}) =>
  createLimiter({ ...DAY, store: memory(), ...options } as LimiterOptions<'sync'>)
/** Each event, as threshold and used. */
const crossed = () => heard.events.map(({ threshold, used }) => [threshold, used])

describe('the request that crosses', () => {
  test('causes the event, with what names the crossing', () => {
    const limiter = limiterOf({ name: 'plan' })
    for (let i = 0; i < 12; i += 1) limiter.consume('ada')
    const common = {
      limiter: 'plan',
      route: undefined,
      policy: 'default',
      unit: 'requests',
      key: 'ada',
      limit: 10,
      at: clock(),
      windowEndsAt: (Math.floor(clock() / DAY_MS) + 1) * DAY_MS,
      source: 'store',
    }
    expect(heard.events).toEqual([
      { ...common, threshold: 0.8, used: 8 },
      { ...common, threshold: 1, used: 10 },
    ])
  })

  test('crosses at exactly the share of the largest limit', () => {
    const limit = Number.MAX_SAFE_INTEGER
    const limiter = limiterOf({ limit, alertAt: [1e-7, 0.8, 1] })
    const least = [900_719_926, 7_205_759_403_792_793, limit]
    let used = 0
    for (const units of least) {
      limiter.consume('ada', { cost: units - 1 - used })
      limiter.consume('ada')
      used = units
    }
    expect(crossed()).toEqual([1e-7, 0.8, 1].map((share, i) => [share, least[i]]))
  })

  test('that is refused crosses nothing, whatever it costs; neither does a peek, or a cost of 0', () => {
    const limiter = limiterOf()
    limiter.consume('ada', { cost: 7 })
    for (let i = 0; i < 5; i += 1) limiter.consume('ada', { cost: 4 })
    limiter.consume('ada', { cost: 0 })
    limiter.peek('ada')
    expect(crossed()).toEqual([])
  })

  test('crosses shares in their order, and once one that is given twice', () => {
    const limiter = limiterOf({ alertAt: [1, 0.5, 1e-7, 1] })
    limiter.consume('ada', { cost: 5 })
    limiter.consume('ada', { cost: 5 })
    expect(crossed()).toEqual([
      [1e-7, 5],
      [0.5, 5],
      [1, 10],
    ])
  })

  test('of each policy crosses by itself, and of each key', () => {
    const policies = [
      { ...DAY, name: 'day' },
      { ...DAY, name: 'hour', window: '1h', alertAt: [0.5] },
    ] as const
    const limiter = createLimiter({ store: memory(), policies })
    for (const key of ['ada', 'bob']) for (let i = 0; i < 8; i += 1) limiter.consume(key)
    const each = heard.events.map(({ key, policy, used }) => `${key} ${policy} ${used}`)
    expect(each).toEqual(['ada hour 5', 'ada day 8', 'bob hour 5', 'bob day 8'])
  })
})

test('without windows, a span that is aligned to the epoch takes their place', () => {
  clock.set(Date.UTC(2026, 1, 10, 12))
  const limiter = limiterOf({ algorithm: 'sliding-window' })
  for (let i = 0; i < 8; i += 1) limiter.consume('ada')
  expect(heard.events.map(({ windowEndsAt }) => windowEndsAt)).toEqual([Date.UTC(2026, 1, 11)])
})

test.each([false, true])(
  'the window of a calendar is that of the policy, with reserve: %s',
  (reserve) => {
    clock.set(Date.UTC(2026, 1, 10))
    const limiter = limiterOf({ window: 'month', anchor: 15, algorithm: undefined, reserve })
    for (let i = 0; i < 10; i += 1) reserve ? limiter.acquire('ada') : limiter.consume('ada')
    limiter.close()
    expect(heard.events.map(({ windowEndsAt }) => windowEndsAt)).toEqual([
      Date.UTC(2026, 1, 15),
      Date.UTC(2026, 1, 15),
    ])
  },
)

test('what is used of concurrent is the slots in use, whenever they rise', () => {
  const limiter = limiterOf({
    concurrent: 5,
    alertAt: [0.6],
    limit: undefined,
    window: undefined,
    algorithm: undefined,
  })
  const acquire = () => limiter.acquire('ada')
  const held = [acquire(), acquire(), acquire(), acquire()]
  for (const each of held) each.release()
  for (let i = 0; i < 4; i += 1) acquire()
  expect(heard.events.map(({ used, unit }) => [used, unit])).toEqual([
    [3, 'concurrent-requests'],
    [3, 'concurrent-requests'],
  ])
  limiter.close()
})

test('a settlement of a window that has gone, or of a blocked key, crosses nothing', () => {
  const limiter = limiterOf()
  limiter.settle('ada', 10, { at: clock() - DAY_MS })
  limiter.block('ada', '1h')
  limiter.settle('ada', 10)
  expect(crossed()).toEqual([])
})

test('a client that has a limit of its own crosses the shares of that, with its charges and settlements', () => {
  const limiter = limiterOf()
  limiter.override('ada', { limit: 20 })
  limiter.grant('ada', 10)
  for (let i = 0; i < 24; i += 1) limiter.consume('ada')
  limiter.settle('ada', 9)
  const each = heard.events.map(({ threshold, used, limit }) => [threshold, used, limit])
  expect(each).toEqual([
    [0.8, 24, 30],
    [1, 33, 30],
  ])
})

describe('while the store is down', () => {
  test('the share by which this process decides is what its charges cross', async () => {
    const store = failingStore({ clock })
    const limiter = createLimiter({ ...DAY, limit: 100, store, localShare: 0.2, deadline: 20 })
    for (let i = 0; i < 70; i += 1) await limiter.consume('ada')
    store.fail()
    for (let i = 0; i < 30; i += 1) await limiter.consume('bob')
    const each = heard.events.map(({ key, threshold, used, limit, source }) => {
      return { key, threshold, used, limit, source }
    })
    expect(each).toEqual([
      { key: 'bob', threshold: 0.8, used: 16, limit: 20, source: 'local' },
      { key: 'bob', threshold: 1, used: 20, limit: 20, source: 'local' },
    ])
    limiter.close()
  })

  test('a settlement that the store does not confirm crosses nothing', async () => {
    const store = failingStore({ clock })
    const limiter = createLimiter({ ...DAY, store, deadline: 20 })
    store.fail()
    await expect(limiter.settle('ada', 9)).rejects.toThrow()
    await limiter.settle('ada', 9, { source: 'local' })
    expect(heard.events.map(({ threshold, source }) => [threshold, source])).toEqual([[1, 'local']])
    limiter.close()
  })

  test.each(['allow', 'deny'] as const)('%s crosses nothing', async (onStoreError) => {
    const store = failingStore({ clock })
    const limiter = createLimiter({ ...DAY, store, onStoreError, deadline: 20 })
    store.fail()
    for (let i = 0; i < 20; i += 1) await limiter.consume('ada')
    expect(crossed()).toEqual([])
    limiter.close()
  })
})

describe('onThreshold', () => {
  test('is called without a subscriber, and may use the limiter', () => {
    heard.stop()
    const used: number[] = []
    const limiter = limiterOf({
      onThreshold: (event: ThresholdEvent) => {
        used.push(event.used)
        limiter.consume('another')
        limiter.settle('another', 1)
      },
    })
    for (let i = 0; i < 7; i += 1) limiter.consume('ada')
    limiter.settle('ada', 3)
    expect(used).toEqual([10, 10])
    expect(limiter.peek('another').remaining).toBe(6)
    expect(limiter.peek('ada').remaining).toBe(0)
  })

  test('that throws or rejects is a warning, once; the charge stays', async () => {
    const failing = [
      () => {
        throw new Error('mine')
      },
      async () => {
        throw new Error('mine')
      },
    ]
    for (const onThreshold of failing) {
      const decision = limiterOf({ onThreshold }).consume('ada', { cost: 10 })
      expect(decision).toMatchObject({ allowed: true, remaining: 0 })
      await new Promise(setImmediate)
    }
    expect(warned).toEqual(['SLUICE_ON_THRESHOLD'])
  })
})

test('a settlement reaches a threshold where its reservation was given back meanwhile', () => {
  const own = manualClock()
  const events = listen<ThresholdEvent>('sluice:threshold')
  const limiter = createLimiter({
    ...{ limit: 10, window: '1h', reserve: true, hold: '1s', alertAt: [0.5] },
    store: memoryStore({ clock: own }),
  })
  const acquired = limiter.acquire('ada', { cost: 6 })
  own.advance(2000)
  acquired.settle(5)
  events.stop()
  limiter.close()
  expect(events.events.map(({ used }) => used)).toEqual([6, 5])
})

describe('wrong options', () => {
  test.each<[unknown, string, string]>([
    [0.8, 'SLUICE_OPTION_TYPE', 'alertAt'],
    [[], 'SLUICE_OPTION_TYPE', 'alertAt'],
    [Array.from({ length: 9 }, (_, i) => (i + 1) / 10), 'SLUICE_OPTION_TYPE', 'alertAt'],
    [[0.8, 80], 'SLUICE_OPTION_RANGE', 'alertAt[1]'],
    [[0], 'SLUICE_OPTION_RANGE', 'alertAt[0]'],
    [['80%'], 'SLUICE_OPTION_TYPE', 'alertAt[0]'],
    [[Number.NaN], 'SLUICE_OPTION_RANGE', 'alertAt[0]'],
  ])('%j', (alertAt, code, option) => {
    expect(() => limiterOf({ alertAt })).toThrow(expect.objectContaining({ code, option }))
  })
})

/** What a client may do to a key: each as its effect on what is used. */
type Act = { readonly ms: number; readonly limit: number } & ({ cost: number } | { delta: number })

const anyAct: fc.Arbitrary<Act> = fc
  .tuple(
    fc.constantFrom(0, 0, 1, 17, 400, 1000, 2500, -300),
    fc.constantFrom(5, 20, 20, 20, 33),
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ cost: fc.constantFrom(0, 1, 1, 2, 7) }) },
      { weight: 1, arbitrary: fc.record({ delta: fc.integer({ min: -9, max: 9 }) }) },
    ),
  )
  .map(([ms, limit, act]) => ({ ms, limit, ...act }))

const anyOwnLimit = fc.constantFrom(undefined, undefined, 12)

describe.each(ALGORITHM_NAMES)('%s', (algorithm) => {
  test('an event is published exactly when a charge raises what is used across a threshold', () => {
    fc.assert(
      fc.property(fc.array(anyAct, { maxLength: 60 }), anyOwnLimit, (acts, ownLimit) => {
        const own = manualClock()
        const alertAt = [0.3, 0.8, 1]
        const maxDelay = algorithm === 'leaky-bucket' ? { maxDelay: 1500 } : {}
        const policy = new Policy('', {
          algorithm,
          window: '1s',
          limit: () => 0,
          alertAt,
          ...maxDelay,
        })
        const events = listen<ThresholdEvent>('sluice:threshold')
        const limiter = new StoreLimiter([policy], { store: memoryStore({ clock: own }) })
        if (ownLimit !== undefined)
          for (const key of ['ada', 'never seen']) limiter.override(key, { limit: ownLimit })
        const expected: number[][] = []
        for (const { ms, limit, ...act } of acts) {
          own.advance(ms)
          const peek = () => limiter.peek('ada', { limit }) as Decision
          const full = (limiter.peek('never seen', { limit }) as { remaining: number }).remaining
          const before = peek().remaining
          if ('cost' in act) limiter.consume('ada', { limit, cost: act.cost })
          else limiter.settle('ada', act.delta, { limit })
          const { remaining: after, policies } = peek()
          const used = full - after + (policies[0]?.excess ?? 0)
          for (const share of alertAt) {
            const isCrossed = full - before < share * full && share * full <= full - after
            if (isCrossed) expected.push([share, used, full])
          }
        }
        events.stop()
        expect(events.events.map((each) => [each.threshold, each.used, each.limit])).toEqual(
          expected,
        )
      }),
    )
  })
})

test('where keys are decided separately, a settlement tells the policy that it has raised', async () => {
  const store = sharded(failingStore({ clock }))
  const policies = ['address', 'user', 'tenant'].map((name) => new Policy('', { ...DAY, name }))
  const limiter = new StoreLimiter(policies, { store, deadline: 1000 })
  const charges = policies.map((policy, i) => {
    return { key: `${i % 2} of a client`, limit: policy.limitFor(), cost: 3 * i }
  })
  const decision = await limiter.decide(charges.map((charge) => ({ ...charge, cost: 2 })))
  await limiter.settleCharges(charges, decision)
  const each = heard.events.map(({ policy, key, threshold }) => `${policy} ${key} ${threshold}`)
  expect(each).toEqual(['tenant 0 of a client 0.8'])
  limiter.close()

  function sharded(all: Store<'async'>): Store<'async'> {
    const open: Store<'async'>['open'] = (...how) => ({
      ...all.open(...how),
      shard: (key) => Number(key[0]),
    })
    return { ...all, open }
  }
})
