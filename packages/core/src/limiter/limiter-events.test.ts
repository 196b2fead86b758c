import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import type {
  BanEvent,
  ConsumeTrace,
  Decision,
  DecisionEvent,
  SettleEvent,
  StoreEvent,
} from '../index.ts'
import { createLimiter, memoryStore } from '../index.ts'
import { failingStore, type ManualClock, manualClock } from '../testing/index.ts'
import { type Heard, listen } from '../testing/listen.ts'

const SECRET = 'a secret of the tests'
const KEY = '203.0.113.77'
const DAY = { limit: 2, window: '1d', algorithm: 'fixed-window' } as const

let clock: ManualClock
let heard: Heard<unknown>[]
beforeEach(() => {
  clock = manualClock()
  heard = []
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => {
  for (const each of heard) each.stop()
  jest.restoreAllMocks()
})

function hear<T>(...names: string[]): readonly T[] {
  const each = listen<T>(...names)
  heard.push(each)
  return each.events
}

const memory = () => memoryStore({ clock })

describe('sluice:decision', () => {
  test('says which dry run would refuse what is admitted', () => {
    const events = hear<DecisionEvent>('sluice:decision')
    const limiter = createLimiter({
      store: memory(),
      policies: [
        { name: 'all', ...DAY, limit: 9 },
        { name: 'new', ...DAY, limit: 1, dryRun: true },
      ],
    })
    limiter.consume(KEY)
    limiter.consume(KEY)
    expect(events.map(({ result, allowed, policy }) => [result, allowed, policy])).toEqual([
      ['admitted', true, 'all'],
      ['would_refuse', false, 'new'],
    ])
    expect(events[1]?.policies).toMatchObject([
      { allowed: true, dryRun: false, charged: 1 },
      { allowed: false, dryRun: true, charged: 0 },
    ])
  })

  test('has what was admitted and refused, with what every policy says', () => {
    const events = hear<DecisionEvent>('sluice:decision')
    const limiter = createLimiter({
      name: 'api',
      store: memory(),
      policies: [
        { name: 'burst', ...DAY, limit: 9 },
        { name: 'day', ...DAY },
      ],
    })
    limiter.consume(KEY, { cost: 2 })
    limiter.consume(KEY)
    const policy = { unit: 'requests', allowed: true, dryRun: false, source: 'store' }
    expect(events).toEqual([
      {
        limiter: 'api',
        route: undefined,
        result: 'admitted',
        allowed: true,
        source: 'store',
        policy: 'day',
        policies: [
          { ...policy, name: 'burst', limit: 9, remaining: 7, charged: 2 },
          { ...policy, name: 'day', limit: 2, remaining: 0, charged: 2 },
        ],
        limit: 2,
        remaining: 0,
        resetMs: expect.any(Number),
        retryAfterMs: 0,
        delayMs: 0,
        durationMs: expect.any(Number),
        banned: false,
        keyHash: undefined,
      },
      expect.objectContaining({
        result: 'refused',
        allowed: false,
        policy: 'day',
        policies: [
          { ...policy, name: 'burst', limit: 9, remaining: 7, charged: 0 },
          { ...policy, allowed: false, name: 'day', limit: 2, remaining: 0, charged: 0 },
        ],
      }),
    ])
    expect(events[1]?.retryAfterMs).toBe(events[1]?.resetMs)
  })

  test('of several dry runs that would refuse, names the one with the longest wait', () => {
    const events = hear<DecisionEvent>('sluice:decision')
    const policies = (['1m', '1h', '1s'] as const).map((window) => {
      return { name: window, window, limit: 1, algorithm: 'token-bucket', dryRun: true } as const
    })
    const limiter = createLimiter({ store: memory(), policies })
    for (let i = 0; i < 2; i += 1) limiter.consume(KEY)
    expect(events.map(({ policy }) => policy).at(-1)).toBe('1h')
  })

  test('says who decided while the store fails, and how long it took', async () => {
    const events = hear<DecisionEvent>('sluice:decision')
    const store = failingStore()
    const limiter = createLimiter({ ...DAY, store, deadline: 20, onStoreError: 'allow' })
    await limiter.consume(KEY)
    store.hang()
    await limiter.consume(KEY)
    expect(events.map(({ source, policies }) => [source, policies.length])).toEqual([
      ['store', 1],
      ['allow', 0],
    ])
    expect(events[1]?.durationMs).toBeGreaterThan(10)
    store.recover()
  })

  test('peek, settle, block and reset decide nothing', async () => {
    const events = hear<DecisionEvent>('sluice:decision')
    const limiter = createLimiter({ ...DAY, store: memory() })
    limiter.peek(KEY)
    limiter.settle(KEY, 1)
    limiter.block(KEY, '1m')
    limiter.reset(KEY)
    expect(events).toEqual([])
  })

  test('a request that nobody listened to at its start publishes nothing', async () => {
    const store = failingStore()
    const limiter = createLimiter({ ...DAY, store })
    const pending = limiter.consume(KEY)
    const events = hear<DecisionEvent>('sluice:decision')
    await pending
    expect(events).toEqual([])
  })
})

describe('sluice:ban', () => {
  const ban = { after: 1, within: '1h', for: ['10m'] } as const

  test('tells once that a ban begins', () => {
    const events = hear<BanEvent>('sluice:ban')
    const decisions = hear<DecisionEvent>('sluice:decision')
    const limiter = createLimiter({ ...DAY, limit: 1, store: memory(), ban, name: 'login' })
    for (let i = 0; i < 4; i += 1) limiter.consume(KEY)
    expect(events).toEqual([
      { limiter: 'login', route: undefined, endsMs: 600_000, dryRun: false, keyHash: undefined },
    ])
    expect(decisions.map(({ banned }) => banned)).toEqual([false, true, true, true])
  })

  test('is heard without a listener to decisions', () => {
    const events = hear<BanEvent>('sluice:ban')
    const limiter = createLimiter({ ...DAY, limit: 0, store: memory(), ban })
    limiter.consume(KEY)
    expect(events).toHaveLength(1)
  })
})

describe('keySecret', () => {
  test('adds an HMAC of the key to refusals and bans alone', () => {
    const bans = hear<BanEvent>('sluice:ban')
    const decisions = hear<DecisionEvent>('sluice:decision')
    const ban = { after: 1, within: '1h', for: ['10m'] } as const
    const limiter = createLimiter({ ...DAY, limit: 1, store: memory(), ban, keySecret: SECRET })
    limiter.consume(KEY)
    limiter.consume(KEY)
    const keyHash = createHmac('sha256', SECRET).update(KEY).digest('base64url')
    expect(decisions.map((each) => each.keyHash)).toEqual([undefined, keyHash])
    expect(bans.map((each) => each.keyHash)).toEqual([keyHash])
  })
})

describe('sluice:settle', () => {
  test('has what was given back or charged, when the store has confirmed it', async () => {
    const events = hear<SettleEvent>('sluice:settle')
    const store = failingStore()
    const limiter = createLimiter({ ...DAY, limit: 9, store, name: 'api' })
    await limiter.consume(KEY, { cost: 5 })
    store.hang()
    const settled = limiter.settle(KEY, -3)
    await new Promise(setImmediate)
    expect(events).toEqual([])
    store.recover()
    await settled
    store.fail(Object.assign(new Error('no'), { code: 'ECONNRESET' }))
    await expect(limiter.settle(KEY, 2)).rejects.toThrow()
    const event = { limiter: 'api', route: undefined, reason: 'cost' }
    const policy = { name: 'default', unit: 'requests' }
    expect(events).toEqual([
      { ...event, policies: [{ ...policy, units: -3 }], errorType: undefined },
      { ...event, policies: [{ ...policy, units: 2 }], errorType: 'SLUICE_STORE_UNAVAILABLE' },
    ])
  })

  test('tells once that a slot was released', () => {
    const events = hear<SettleEvent>('sluice:settle')
    const limiter = createLimiter({
      store: memory(),
      policies: [
        { name: 'in-flight', concurrent: 1 },
        { name: 'day', ...DAY },
      ],
    })
    const acquired = limiter.acquire(KEY)
    limiter.acquire(KEY).release()
    expect(events).toEqual([])
    acquired.release()
    acquired.release()
    expect(events).toEqual([
      {
        limiter: undefined,
        route: undefined,
        reason: 'released',
        policies: [{ name: 'in-flight', unit: 'concurrent-requests', units: -1 }],
        errorType: undefined,
      },
    ])
  })
})

describe('sluice:store', () => {
  /** The events of the store that fails for this reason: stores of other tests may still lose their connections. */
  function eventsOf(events: readonly StoreEvent[], reason: string): readonly StoreEvent[] {
    const [first] = events.filter((each) => each.reason === reason)
    return events.filter(({ store }) => store === first?.store)
  }

  test('tells when a store fails, why, and when it has recovered', async () => {
    const events = hear<StoreEvent>('sluice:store')
    const store = failingStore()
    const limiter = createLimiter({ ...DAY, limit: 1000, store })
    store.fail(Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' }))
    const own = () => eventsOf(events, 'connect failed')
    while (own().length === 0) await limiter.consume(KEY)
    const [{ store: number }] = own() as [StoreEvent]
    expect(number).toBeGreaterThan(0)
    expect(own()).toEqual([
      { store: number, state: 'down', reason: 'connect failed', errorType: 'ECONNREFUSED' },
    ])
    store.recover()
    while (own().length === 1) {
      await limiter.consume(KEY)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const { reason, errorType } = {} as StoreEvent
    expect(own()[1]).toEqual({ store: number, state: 'up', reason, errorType })
    limiter.close()
    expect(own()).toHaveLength(2)
  })

  test('tells that a store was closed which was down', async () => {
    const events = hear<StoreEvent>('sluice:store')
    const store = failingStore()
    const limiter = createLimiter({ ...DAY, limit: 1000, store })
    store.fail(new Error('lost'))
    const own = () => eventsOf(events, 'lost')
    while (own().length === 0) await limiter.consume(KEY)
    limiter.close()
    expect(own().map(({ state, errorType }) => [state, errorType])).toEqual([
      ['down', 'Error'],
      ['closed', undefined],
    ])
  })
})

describe('tracing:sluice:consume', () => {
  const STEPS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']
  const names = STEPS.map((step) => `tracing:sluice:consume:${step}`)

  test('spans the decision, of a store that answers at once or later', async () => {
    const traces = hear<ConsumeTrace>(...names)
    const options = { ...DAY, limit: 1, name: 'api' }
    createLimiter({ ...options, store: memory() }).consume(KEY)
    expect(traces).toHaveLength(2)
    const result = { allowed: true, source: 'store', policy: 'default' }
    const trace = { limiter: 'api', route: undefined, policies: ['default'], result }
    expect(traces[0]).toBe(traces[1])
    expect(traces[0]).toEqual(trace)
    const limiter = createLimiter({ ...options, store: failingStore() })
    expect(await limiter.consume(KEY)).toMatchObject({ allowed: true, remaining: 0 })
    expect(traces).toHaveLength(6)
    expect(traces[5]).toEqual(trace)
    expect(await limiter.consume(KEY)).toMatchObject({ allowed: false })
    expect(traces[9]?.result).toEqual({ ...result, allowed: false })
  })
})

test('no event has the key', async () => {
  const steps = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']
  const traces = ['consume', 'wait'].flatMap((name) =>
    steps.map((step) => `tracing:sluice:${name}:${step}`),
  )
  const kinds = ['decision', 'settle', 'store', 'ban'].map((kind) => `sluice:${kind}`)
  const events = hear<unknown>(...kinds, ...traces)
  const store = failingStore()
  const ban = { after: 1, within: '1h', for: ['10m'] } as const
  const secret = { keySecret: SECRET }
  const limiter = createLimiter({ ...DAY, store, ban, onStoreError: 'local', ...secret })
  for (let i = 0; i < 4; i += 1) await limiter.consume(KEY)
  await limiter.settle(KEY, -1)
  store.fail()
  for (let i = 0; i < 30; i += 1) await limiter.consume(KEY)
  await limiter.settle(KEY, -1).catch(() => {})
  expect(events.length).toBeGreaterThan(100)
  expect(inspect(events, { depth: null, maxArrayLength: null })).not.toContain(KEY)
})

describe('onDecision', () => {
  test('gets the decisions of consume and acquire', async () => {
    const told: Decision[] = []
    const onDecision = (decision: Decision) => told.push(decision)
    const limiter = createLimiter({ ...DAY, store: memory(), onDecision })
    expect(told).toEqual([limiter.consume(KEY)])
    limiter.peek(KEY)
    createLimiter({ concurrent: 1, store: memory(), onDecision }).acquire(KEY)
    expect(told.map((each) => each.policies[0]?.unit)).toEqual(['requests', 'concurrent-requests'])
    const remote = createLimiter({ ...DAY, store: failingStore(), onDecision })
    expect(await remote.consume(KEY)).toBe(told[2])
  })

  test('what it throws changes nothing', () => {
    const onDecision = () => {
      throw new Error('no')
    }
    const limiter = createLimiter({ ...DAY, store: memory(), onDecision })
    expect(limiter.consume(KEY)).toMatchObject({ allowed: true, remaining: 1 })
    expect(process.emitWarning).toHaveBeenCalledWith(
      expect.stringContaining('onDecision threw'),
      expect.objectContaining({ code: 'SLUICE_ON_DECISION' }),
    )
  })
})
