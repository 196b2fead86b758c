import { execFile } from 'node:child_process'
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import {
  createLimiter,
  type DecisionEvent,
  type OverloadEvent,
  type PolicyChangeEvent,
  type StoreEvent,
  type WaitTrace,
} from '@sluice/core'
import { failingStore } from '@sluice/core/testing'
import { ATTRIBUTES } from './attributes.ts'
import { instrument } from './index.ts'
import { INSTRUMENTS } from './instruments.ts'
import { type Meters, type Point, useMeters } from './testing.ts'

const DAY = { limit: 2, window: '1d', algorithm: 'fixed-window' } as const

let meters: Meters
let stops: (() => void)[]

beforeEach(() => {
  meters = useMeters()
  stops = []
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(async () => {
  await expectDocumentedAttributes()
  for (const stop of stops) stop()
  jest.restoreAllMocks()
  await meters.provider.shutdown()
})

/** Expects that what a test has recorded has only the attributes that the table of metrics gives it. */
async function expectDocumentedAttributes(): Promise<void> {
  for (const [name, recorded] of Object.entries(await meters.read())) {
    const instrument = Object.values(INSTRUMENTS).find((each) => each.name === name)
    const documented = instrument?.attributes.map((each) => ATTRIBUTES[each]) ?? []
    for (const { attributes } of recorded)
      expect(documented).toEqual(expect.arrayContaining(Object.keys(attributes)))
  }
}

function start(options: { nearLimit?: number } = {}): () => void {
  const stop = instrument({ meterProvider: meters.provider, ...options })
  stops.push(stop)
  return stop
}

const short = ({ attributes, value }: Point) => [
  Object.entries(attributes)
    .sort()
    .map(([name, each]) => `${name.replace('rate_limiting.', '')}=${each}`)
    .join(' '),
  value,
]
/** The points of a metric, in short. */
const points = async (name: string) => ((await meters.read())[name] ?? []).map(short)

test('requests, by policy, result and source', async () => {
  start()
  const limiter = createLimiter({ ...DAY, name: 'api' })
  for (let i = 0; i < 5; i += 1) limiter.consume('a')
  createLimiter({ ...DAY }).consume('a')
  expect(await points('rate_limiting.requests')).toEqual([
    ['policy=api/default result=admitted source=store', 2],
    ['policy=api/default result=refused source=store', 3],
    ['policy=default result=admitted source=store', 1],
  ])
})

test('the time of decisions', async () => {
  start()
  const store = failingStore()
  const limiter = createLimiter({ ...DAY, store, deadline: 20 })
  store.hang()
  await limiter.consume('a')
  store.recover()
  const [[attributes, seconds] = []] = await points('rate_limiting.decision.duration')
  expect(attributes).toBe('error.type=_OTHER policy=default result=admitted source=local')
  expect(seconds).toBeGreaterThan(0.01)
  expect(seconds).toBeLessThan(20)
})

test('units that were charged, and their corrections, without slots', async () => {
  start()
  const limiter = createLimiter({
    policies: [
      { name: 'tokens', limit: 100, window: '1d', unit: 'tokens' },
      { name: 'in-flight', concurrent: 5 },
    ],
  })
  limiter.acquire('a', { cost: 30 }).release()
  limiter.settle('a', -20)
  limiter.settle('a', 5)
  limiter.acquire('a', { cost: 99 })
  expect(await points('rate_limiting.units')).toEqual([
    ['policy=tokens result=charged source=store', 30],
    ['policy=tokens result=settled', -15],
  ])
  expect(await points('rate_limiting.active_requests')).toEqual([['policy=in-flight', 0]])
})

test('units by the source of each policy, where several have decided', async () => {
  start()
  const policy = { unit: 'requests', allowed: true, dryRun: false, limit: 5, remaining: 4 } as const
  const event = {
    limiter: undefined,
    route: undefined,
    result: 'admitted',
    allowed: true,
    source: 'local',
    policy: 'user',
    policies: [
      { ...policy, name: 'user', charged: 1, source: 'local' },
      { ...policy, name: 'address', charged: 1, source: 'store' },
    ],
    limit: 5,
    remaining: 4,
    resetMs: 1,
    retryAfterMs: 0,
    delayMs: 0,
    durationMs: 0,
    banned: false,
    keyHash: undefined,
  } satisfies DecisionEvent
  channel('sluice:decision').publish(event)
  expect(await points('rate_limiting.units')).toEqual([
    ['policy=user result=charged source=local', 1],
    ['policy=address result=charged source=store', 1],
  ])
})

test('a wait that had begun before does not count when it ends', async () => {
  start()
  const wait = { limiter: 'api', route: undefined, policy: 'queue', delayMs: 9, result: true }
  channel('tracing:sluice:wait:asyncEnd').publish(wait satisfies WaitTrace)
  expect(await points('rate_limiting.queued_requests')).toEqual([])
})

test('thresholds, by policy and share, without the clients', async () => {
  start()
  const limiter = createLimiter({ ...DAY, limit: 10, alertAt: [0.8, 1], name: 'plan' })
  for (const client of ['a', 'b']) for (let i = 0; i < 9; i += 1) limiter.consume(client)
  limiter.settle('a', 1)
  expect(await points('rate_limiting.thresholds')).toEqual([
    ['policy=plan/default source=store threshold=0.8', 2],
    ['policy=plan/default source=store threshold=1', 1],
  ])
})

test('requests in progress', async () => {
  start()
  const limiter = createLimiter({ concurrent: 2, name: 'jobs' })
  const [first, second] = [limiter.acquire('a'), limiter.acquire('b')]
  expect(await points('rate_limiting.active_requests')).toEqual([['policy=jobs/default', 2]])
  first.release()
  first.release()
  second.release()
  expect(await points('rate_limiting.active_requests')).toEqual([['policy=jobs/default', 0]])
})

describe('the store', () => {
  const available = async () =>
    (await meters.read())['rate_limiting.store.available']?.map(({ value }) => value)

  test('is available until it fails, and again when it has recovered', async () => {
    start()
    const store = failingStore()
    const limiter = createLimiter({ ...DAY, limit: 1_000_000, store })
    expect(await available()).toEqual([1])
    store.fail(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    while ((await available())?.[0] === 1) await limiter.consume('a')
    await limiter.consume('a')
    expect((await points('rate_limiting.requests')).map(([attributes]) => attributes)).toContain(
      'error.type=ECONNREFUSED policy=default result=admitted source=local',
    )
    store.recover()
    while ((await available())?.[0] === 0) {
      await limiter.consume('a')
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await limiter.consume('a')
    expect((await points('rate_limiting.requests')).map(([attributes]) => attributes)).toContain(
      'policy=default result=admitted source=store',
    )
  })

  test('that was closed while it was down does not count', async () => {
    start()
    const events: StoreEvent[] = []
    const hear = (event: unknown) => void events.push(event as StoreEvent)
    subscribe('sluice:store', hear)
    stops.push(() => unsubscribe('sluice:store', hear))
    const limiters = ['ECONNREFUSED', 'ETIMEDOUT'].map((code) => {
      const store = failingStore()
      store.fail(Object.assign(new Error(code), { code }))
      return createLimiter({ ...DAY, limit: 1_000_000, store })
    })
    for (const [i, limiter] of limiters.entries()) {
      while (events.length === i) await limiter.consume('a')
      expect(await available()).toEqual([0])
    }
    await limiters[1]?.consume('a')
    // Of several that are down, the last.
    expect((await points('rate_limiting.requests')).map(([attributes]) => attributes)).toContain(
      'error.type=ETIMEDOUT policy=default result=admitted source=local',
    )
    limiters[0]?.close()
    expect(await available()).toEqual([0])
    limiters[1]?.close()
    expect(await available()).toEqual([1])
  })
})

test('why a store is down, of several the last that was said to be', async () => {
  start()
  const events: StoreEvent[] = []
  const hear = (event: unknown) => void events.push(event as StoreEvent)
  subscribe('sluice:store', hear)
  stops.push(() => unsubscribe('sluice:store', hear))
  const store = failingStore()
  store.fail(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
  const limiter = createLimiter({ ...DAY, limit: 1_000_000, store })
  while (events.length === 0) await limiter.consume('a')
  const [event] = events as [StoreEvent]
  // Another store is down, and then it turns out that the first one can never work.
  channel('sluice:store').publish({ ...event, store: event.store + 1, errorType: 'ETIMEDOUT' })
  channel('sluice:store').publish({ ...event, errorType: 'NOPERM' })
  await limiter.consume('b')
  const reasons = (await points('rate_limiting.requests')).map(([attributes]) => attributes)
  expect(reasons).toContain('error.type=NOPERM policy=default result=admitted source=local')
  expect(`${reasons}`).not.toContain('ETIMEDOUT')
})

describe('utilization', () => {
  test('is recorded only with nearLimit', async () => {
    start()
    createLimiter(DAY).consume('a')
    expect(Object.keys(await meters.read())).not.toContain('rate_limiting.utilization')
  })

  test('has a bucket boundary at nearLimit', async () => {
    start({ nearLimit: 0.8 })
    const limiter = createLimiter({ ...DAY, limit: 10 })
    for (let i = 0; i < 3; i += 1) limiter.consume('a')
    const [point] = (await meters.read())['rate_limiting.utilization'] as [Point]
    expect(short(point)).toEqual(['policy=default', expect.closeTo(0.6)])
    expect(point.boundaries).toEqual([0, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 1])
  })
})

test('after stop nothing is recorded', async () => {
  const stop = start({ nearLimit: 0.8 })
  const limiter = createLimiter({ concurrent: 9 })
  limiter.acquire('a')
  const before = await meters.read()
  stop()
  limiter.acquire('a').release()
  expect(await meters.read()).toEqual(before)
})

test('100,000 clients make no more time series than one', async () => {
  const args = ['--import', 'tsx', join(__dirname, 'clients.script.ts')]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const { one, many } = JSON.parse(stdout)
  expect(one).toBeLessThan(10)
  expect(many).toBe(one)
})

describe('wrong options', () => {
  test.each<[object, string, string]>([
    [{ meterprovider: {} }, 'SLUICE_OPTION_UNKNOWN', 'meterprovider'],
    [{ meterProvider: {} }, 'SLUICE_OPTION_TYPE', 'meterProvider'],
    [{ tracerProvider: null }, 'SLUICE_OPTION_TYPE', 'tracerProvider'],
    [{ nearLimit: 1 }, 'SLUICE_OPTION_RANGE', 'nearLimit'],
    [{ nearLimit: 0 }, 'SLUICE_OPTION_RANGE', 'nearLimit'],
    [{ nearLimit: '0.8' }, 'SLUICE_OPTION_RANGE', 'nearLimit'],
  ])('%j', (options, code, option) => {
    expect(() => instrument(options)).toThrow(expect.objectContaining({ code, option }))
  })
})

describe('live policies', () => {
  const LIVE = { ...DAY, live: true, name: 'api' } as const

  const limits = () => points('rate_limiting.policy.limit')
  const inForce = (document: number, code: number) => [
    ['live_policy=api policy=api/default source=document', document],
    ['live_policy=api policy=api/default source=code', code],
  ]

  test('the limit in force, and that of the code', async () => {
    start()
    const limiter = createLimiter(LIVE)
    await limiter.policies.list()
    expect(await limits()).toEqual(inForce(2, 2))
    await limiter.policies.set('api', { limit: 7 })
    expect(await limits()).toEqual(inForce(7, 2))
    await limiter.policies.unset('api')
    expect(await limits()).toEqual(inForce(2, 2))
  })

  test('of several limiters, whose policies may have the same name', async () => {
    start()
    for (const [name, limit] of [
      ['one', 2],
      ['other', 3],
    ] as const)
      await createLimiter({ ...DAY, limit, name, live: true }).policies.list()
    expect((await limits()).map(([, units]) => units)).toEqual([2, 2, 3, 3])
  })

  test('of slots too, and none of a policy that is not live', async () => {
    start()
    const limiter = createLimiter({
      name: 'api',
      policies: [
        { name: 'slots', concurrent: 3, live: true },
        { ...DAY, name: 'still' },
      ],
    })
    await limiter.policies.list()
    expect(await limits()).toEqual([
      ['live_policy=api/slots policy=api/slots source=document', 3],
      ['live_policy=api/slots policy=api/slots source=code', 3],
    ])
  })

  test('of a limit that is a function only what a document sets', async () => {
    start()
    const event = {
      limiter: 'api',
      policy: 'plan',
      id: 'api/plan:POST /login',
      unit: 'requests',
      limit: 9,
      before: undefined,
      codeLimit: undefined,
      enforced: 1,
      source: 'document',
      settings: { limit: 9 },
      at: 1,
    } satisfies PolicyChangeEvent
    channel('sluice:policy').publish(event)
    expect(await limits()).toEqual([
      ['live_policy=api/plan:POST /login policy=api/plan source=document', 9],
    ])
  })

  test('after stop there are none', async () => {
    const stop = start()
    await createLimiter(LIVE).policies.list()
    stop()
    expect(await limits()).toEqual([])
  })
})

test('what each dry run would refuse, also where another policy refuses', async () => {
  start()
  const limiter = createLimiter({
    name: 'api',
    policies: [
      { ...DAY, name: 'enforced', limit: 3 },
      { ...DAY, name: 'new', limit: 2, dryRun: true },
      { ...DAY, name: 'newer', limit: 1, enforce: 0 },
    ],
  })
  for (let i = 0; i < 5; i += 1) limiter.consume('a')
  expect(await points('rate_limiting.dry_run.refusals')).toEqual([
    ['policy=api/newer', 4],
    ['policy=api/new', 3],
  ])
  expect(await points('rate_limiting.requests')).toEqual([
    ['policy=api/enforced result=admitted source=store', 1],
    ['policy=api/newer result=would_refuse source=store', 1],
    ['policy=api/new result=would_refuse source=store', 1],
    ['policy=api/enforced result=refused source=store', 2],
  ])
})

test('load shedding, by class, result and signal', async () => {
  start()
  const event = {
    limiter: 'api',
    shedding: true,
    signal: 'latency',
    limit: 12,
    active: 11,
    waiting: 3,
    maxWaitMs: 100,
    utilization: 0.9,
    delayMs: 5,
    heap: 0.1,
    classes: {
      critical: { admitted: 5, waited: 1, shed: 0 },
      batch: { admitted: 0, waited: 0, shed: 7 },
    },
  } satisfies OverloadEvent
  channel('sluice:overload').publish(event)
  expect(await points('rate_limiting.overload.requests')).toEqual([
    ['class=critical policy=api result=admitted', 5],
    ['class=batch policy=api result=shed signal=latency', 7],
  ])
  expect(await points('rate_limiting.overload.limit')).toEqual([['policy=api', 12]])
  expect(await points('rate_limiting.overload.active_requests')).toEqual([['policy=api', 11]])
  expect(await points('rate_limiting.overload.queued_requests')).toEqual([['policy=api', 3]])
})
