import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { RoutedLimiter } from '@sluice/http/adapter'
import { until } from '@sluice/test-harness/redis'
import type { PolicyChangeEvent, ThresholdEvent } from '../../events.ts'
import { createLimiter, memoryStore } from '../../index.ts'
import type { PolicyChange } from '../../stores/documents/policy-document.ts'
import { failingStore, manualClock } from '../../testing/index.ts'
import type { StoreLimiter } from '../store-limiter.ts'

const NOON = 1_800_000_000_000
const API = { name: 'api', limit: 5, window: '1m', algorithm: 'fixed-window', live: true } as const

let clock: ReturnType<typeof manualClock>
let store: ReturnType<typeof memoryStore>
const warned: string[] = []

beforeEach(() => {
  clock = manualClock(NOON)
  store = memoryStore({ clock })
  warned.length = 0
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((message: string) => warned.push(message)) as never)
})
afterEach(() => {
  store.close()
  jest.restoreAllMocks()
})

const limiterOf = (options: object = {}) =>
  createLimiter({ store, ...API, ...options } as never) as ReturnType<typeof sync>
const sync = () => createLimiter({ limit: 1, window: 1 })

/** Writes a document that nobody has checked. */
async function write(policies: unknown): Promise<void> {
  const { documents } = store
  const { text = '' } = documents.read('sluice', 'policies', '')
  const version = String(Math.random()).padEnd(16, '0').slice(0, 16)
  const json =
    typeof policies === 'string' ? policies : JSON.stringify({ form: 1, policies, history: [] })
  documents.replace('sluice', 'policies', text.slice(0, 16), `${version}\n${json}`, 1e9)
}

describe('set', () => {
  it('changes the limit, and leaves the count', async () => {
    const limiter = limiterOf()
    for (let i = 0; i < 3; i += 1) limiter.consume('ada')
    await limiter.policies.set('api', { limit: 10 })
    expect(limiter.consume('ada')).toMatchObject({ limit: 10, remaining: 6 })
    await limiter.policies.set('api', { limit: 2 })
    expect(limiter.consume('ada')).toMatchObject({ allowed: false, limit: 2, remaining: 0 })
    await limiter.policies.unset('api')
    expect(limiter.consume('ada')).toMatchObject({ allowed: true, limit: 5, remaining: 0 })
  })

  it('and what else changes policies has the values of the call, whatever becomes of the objects', async () => {
    const { policies } = limiterOf()
    const settings = { limit: 6, alertAt: [0.5] }
    const all = { api: { limit: 7 } }
    const options = { by: 'ada' }
    const use = (limit: number, by: string) => {
      settings.limit = limit
      settings.alertAt[0] = limit / 100
      all.api.limit = limit
      options.by = by
    }
    const changes = [
      policies.set('api', settings, options),
      policies.apply(all, options),
      policies.unset('api', options),
      policies.rollback(undefined, options),
    ]
    use(50, 'eve')
    const of = (limit: number | undefined, alertAt?: number[]) =>
      limit === undefined ? [] : [{ set: { limit, ...(alertAt && { alertAt }) } }]
    expect((await Promise.all(changes)).map(({ by, after }) => [by, after.api])).toEqual([
      ['ada', of(6, [0.5])],
      ['ada', of(7)],
      ['ada', of(undefined)],
      ['ada', of(7)],
    ])
    use(8, 'ada')
    const differences = policies.diff(all)
    use(50, 'eve')
    expect(await differences).toMatchObject([{ before: { limit: 7 }, after: { limit: 8 } }])
  })

  it('lets those go on who wait, where the policy becomes a dry run', async () => {
    const limiter = limiterOf({ limit: 1, window: '1h' })
    limiter.consume('ada')
    const ended = jest.fn()
    limiter.wait('ada').then(ended, ended)
    await limiter.policies.set('api', { dryRun: true })
    await until(() => ended.mock.calls.length === 1, { what: 'the wait is over' })
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ allowed: true }))
    limiter.close()
  })

  it('changes the thresholds, also where the limit stays', async () => {
    const reached: number[] = []
    const onThreshold = ({ threshold }: ThresholdEvent) => reached.push(threshold)
    const limiter = limiterOf({ limit: 4, alertAt: [1], onThreshold })
    for (let i = 0; i < 4; i += 1) limiter.consume('ada')
    expect(reached.splice(0)).toEqual([1])
    await limiter.policies.set('api', { alertAt: [0.5, 0.75, 1] })
    const at = [1, 2, 3, 4].map(() => {
      limiter.consume('bob')
      return reached.splice(0)
    })
    expect(at).toEqual([[], [0.5], [0.75], [1]])
  })

  it('is what inspect shows', async () => {
    const limiter = limiterOf()
    limiter.consume('ada')
    await limiter.policies.set('api', { limit: 10 })
    for await (const entry of store.inspect()) expect(entry).toMatchObject({ limit: 10, used: 1 })
    expect.assertions(1)
  })

  it('for a time: then what was set before holds again, by the clock of the store', async () => {
    const limiter = limiterOf()
    await limiter.policies.set('api', { limit: 7 })
    await limiter.policies.set('api', { limit: 20 }, { for: '1h' })
    expect(limiter.peek('ada').limit).toBe(20)
    clock.advance(3_599_999)
    expect(limiter.peek('ada').limit).toBe(20)
    clock.advance(1)
    expect(limiter.peek('ada').limit).toBe(7)
  })

  it('without an end ends what was set for a time, of the same settings alone', async () => {
    const { policies } = limiterOf()
    await policies.set('api', { limit: 50, dryRun: true }, { for: '1h' })
    await policies.set('api', { limit: 70 }, { for: '2h' })
    await policies.set('api', { limit: 20 })
    expect(await policies.list()).toMatchObject([
      { limit: 20, enforced: 0, until: clock() + 3_600_000 },
    ])
    await policies.set('api', { enforce: 1 })
    expect(await policies.list()).toMatchObject([{ limit: 20, enforced: 1, until: undefined }])
    await policies.rollback(3)
    expect(await policies.list()).toMatchObject([{ limit: 70, enforced: 0 }])
  })

  it('and back: the limit of the code is the one that the store has prepared for', async () => {
    const limiter = limiterOf()
    const limit = () => (limiter as unknown as StoreLimiter).compiledPolicies[0]?.compiledLimit
    const code = limit()
    await limiter.policies.set('api', { enforce: 1 })
    expect(limit()).toBe(code)
    await limiter.policies.set('api', { limit: 7 })
    expect(limit()).not.toBe(code)
    await limiter.policies.unset('api')
    expect(limit()).toBe(code)
  })

  it('raising and lowering in a loop gives no more than the largest limit', async () => {
    const limiter = limiterOf()
    let admitted = 0
    for (let i = 0; i < 20; i += 1) {
      await limiter.policies.set('api', { limit: i % 2 === 0 ? 9 : 2 })
      for (let k = 0; k < 3; k += 1) if (limiter.consume('ada').allowed) admitted += 1
    }
    expect(admitted).toBe(9)
  })

  it('a dry run, and a share of the clients', async () => {
    const limiter = limiterOf({ limit: 0 })
    const refused = () => {
      const ids = Array.from({ length: 200 }, (_, id) => `${id}`)
      return ids.filter((id) => !limiter.peek(id).allowed).length
    }
    expect(refused()).toBe(200)
    await limiter.policies.set('api', { dryRun: true })
    expect(refused()).toBe(0)
    await limiter.policies.set('api', { enforce: 0.1 })
    expect(refused()).toBeGreaterThan(5)
    expect(refused()).toBeLessThan(45)
    await limiter.policies.set('api', { dryRun: false })
    expect(refused()).toBe(200)
  })

  it('concurrent, burst and maxDelay, each of the algorithm that has it', async () => {
    const policies = [
      { name: 'slots', concurrent: 1, live: true },
      { name: 'bucket', limit: 5, window: '1m', algorithm: 'token-bucket', live: true },
    ]
    const limiter = limiterOf({
      policies,
      limit: undefined,
      window: undefined,
      algorithm: undefined,
      live: undefined,
    })
    await limiter.policies.set('api/slots', { concurrent: 3 })
    await limiter.policies.set('api/bucket', { burst: 50 })
    const { policies: said } = limiter.peek('ada')
    expect(said.map(({ limit }) => limit)).toEqual([3, 50])
  })

  it('who waits asks again by the new limit', async () => {
    const limiter = limiterOf({ limit: 1, window: '1h' })
    limiter.consume('ada')
    const waits = limiter.wait('ada')
    await limiter.policies.set('api', { limit: 2 })
    expect(await waits).toMatchObject({ allowed: true, limit: 2 })
  })
})

describe('a name', () => {
  it('is needed', () => {
    expect(() => limiterOf({ name: undefined })).toThrow("Add name: 'api'")
  })

  it('is that of the limiter, the policy and the route', async () => {
    const policies = ['burst', 'default'].map((name) => ({ ...API, name }))
    const limiter = limiterOf({
      policies,
      limit: undefined,
      window: undefined,
      algorithm: undefined,
      live: undefined,
    })
    const names = (await limiter.policies.list()).map(({ name }) => name)
    expect(names).toEqual(['api', 'api/burst'])
  })

  it('of a route with limits of its own has the route', async () => {
    const routes = { 'POST /login': { limit: 2 }, '/slow': { cost: 3 } }
    const limiter = new RoutedLimiter({ store, ...API, routes } as never, {} as never)
    const names = (await limiter.limiter.policies.list()).map(({ name }) => name)
    expect(names).toEqual(['api', 'api:POST /login'])
  })

  it('that nobody has is refused, with those that there are', async () => {
    const limiter = limiterOf()
    await expect(limiter.policies.set('apo', { limit: 1 })).rejects.toMatchObject({
      code: 'SLUICE_POLICY_UNKNOWN',
      expected: 'one of api',
    })
  })
})

describe('what is wrong is refused when it is written', () => {
  it.each([
    [{ limit: 1.5 }, 'SLUICE_OPTION_RANGE'],
    [{ limit: 1e300 }, 'SLUICE_OPTION_RANGE'],
    [{ limit: 501 }, 'SLUICE_OPTION_RANGE'],
    [{ limit: 4 }, 'SLUICE_OPTION_RANGE'],
    [{ window: '1h' }, 'SLUICE_OPTION_UNKNOWN'],
    [{ algorithm: 'token-bucket' }, 'SLUICE_OPTION_UNKNOWN'],
    [{ burst: 5 }, 'SLUICE_OPTION_CONFLICT'],
    [{ enforce: 2 }, 'SLUICE_OPTION_RANGE'],
    [{ concurrent: 5 }, 'SLUICE_OPTION_CONFLICT'],
    [null, 'SLUICE_OPTION_TYPE'],
    [{ limit: () => 5 }, 'SLUICE_OPTION_TYPE'],
  ])('%j', async (settings, code) => {
    const limiter = limiterOf({ live: { limit: { min: 5, max: 500 } } })
    await expect(limiter.policies.set('api', settings as never)).rejects.toMatchObject({ code })
    expect(await limiter.policies.history()).toEqual([])
    expect(limiter.peek('ada').limit).toBe(5)
  })

  it('a setting that is undefined is none', async () => {
    const { policies } = limiterOf()
    const { after } = await policies.set('api', { limit: undefined, dryRun: true })
    expect(after.api).toEqual([{ set: { dryRun: true } }])
    expect(await policies.list()).toMatchObject([{ limit: 5, enforced: 0 }])
  })

  it.each([
    [true, undefined],
    [{ limit: { max: 500 } }, { min: 0, max: 500 }],
    [{ limit: { min: 2 } }, { min: 2, max: expect.any(Number) }],
  ])('list says which bounds the application has set: %j', async (live, bounds) => {
    expect(await limiterOf({ live }).policies.list()).toMatchObject([{ bounds }])
  })

  it.each([
    [{ limit: { min: 6 } }, 'SLUICE_OPTION_CONFLICT'],
    [{ limit: { min: 9, max: 5 } }, 'SLUICE_OPTION_CONFLICT'],
    [{ burst: { max: 5 } }, 'SLUICE_OPTION_UNKNOWN'],
    ['yes', 'SLUICE_OPTION_TYPE'],
  ])('bounds: %j', (live, code) => {
    expect(() => limiterOf({ live })).toThrow(expect.objectContaining({ code }) as never)
  })

  it('live is for a window that is the same for every request, and a store that keeps documents', () => {
    const conflict = { code: 'SLUICE_OPTION_CONFLICT', option: 'live' }
    const wrong = expect.objectContaining(conflict) as never
    expect(() => limiterOf({ window: () => '1m' })).toThrow(wrong)
    expect(() => limiterOf({ store: failingStore() })).toThrow(wrong)
    limiterOf({ store: failingStore(), live: undefined }).close()
  })

  it('a policy without live is none that a document may change', async () => {
    const { policies } = limiterOf({ live: undefined })
    const unknown = { code: 'SLUICE_POLICY_UNKNOWN', option: 'name' }
    await expect(policies.set('api', { limit: 9 })).rejects.toMatchObject(unknown)
    expect(await policies.list()).toEqual([])
  })
})

it.each([
  [{ dryRun: true }, { enforce: 0.1 }, 0.1],
  [{ dryRun: true }, { enforce: 1 }, 1],
  [{ enforce: 0.1 }, { dryRun: true }, 0],
  [{ enforce: 0.1 }, { dryRun: false }, 1],
  [{ dryRun: true }, { limit: 9 }, 0],
])('the code says %j, and a document %j', async (options, settings, enforced) => {
  const limiter = limiterOf({
    policies: [{ ...API, name: 'default', ...options }],
    limit: undefined,
    window: undefined,
    algorithm: undefined,
    live: undefined,
  })
  await limiter.policies.set('api', settings)
  expect(await limiter.policies.list()).toMatchObject([{ enforced, problem: undefined }])
})

describe('settings that are right one by one, and wrong together, are refused', () => {
  const bucket = { algorithm: 'token-bucket', limit: 100, window: '1d' }
  const burst = 1_000_000_000

  it('at once, and when some of them have ended', async () => {
    const { policies } = limiterOf(bucket)
    await policies.set('api', { burst })
    const wrong = { code: 'SLUICE_OPTION_RANGE', option: 'burst' }
    await expect(policies.set('api', { limit: 50 })).rejects.toMatchObject(wrong)
    await policies.set('api', { limit: 200 }, { for: '1m' })
    await policies.set('api', { limit: 300, burst: 300 }, { for: '1h' })
    await expect(policies.set('api', { limit: 50 })).rejects.toMatchObject(wrong)
    expect(await policies.list()).toMatchObject([{ limit: 300, problem: undefined }])
  })

  it('by a rollback to what the bounds of the code no longer allow', async () => {
    const first = limiterOf()
    await first.policies.set('api', { limit: 900 })
    await first.policies.unset('api')
    first.close()
    const { policies } = limiterOf({ live: { limit: { max: 500 } } })
    await expect(policies.rollback()).rejects.toMatchObject({ code: 'SLUICE_OPTION_RANGE' })
    expect(await policies.history()).toHaveLength(2)
  })
})

it('a policy has ten settings that end by themselves at most: those that have ended make room', async () => {
  const { policies } = limiterOf()
  for (let i = 1; i <= 10; i += 1) await policies.set('api', { limit: i }, { for: '1m' })
  const full = { code: 'SLUICE_POLICIES_FULL', option: 'settings' }
  await expect(policies.set('api', { limit: 11 }, { for: '1m' })).rejects.toMatchObject(full)
  await policies.set('api', { alertAt: [1] })
  expect(await policies.list()).toMatchObject([{ limit: 10 }])
  clock.advance(60_000)
  await policies.set('api', { limit: 13 }, { for: '1m' })
  expect(await policies.list()).toMatchObject([{ limit: 13 }])
  const [{ after }] = (await policies.history()) as [PolicyChange]
  expect(after.api).toEqual([
    { set: { alertAt: [1] } },
    { set: { limit: 13 }, until: clock() + 60_000 },
  ])
})

it('a writer replaces a document that is wrong', async () => {
  const limiter = limiterOf()
  await limiter.policies.set('api', { limit: 7 })
  await write('{')
  await limiter.policies.set('api', { limit: 9 })
  expect(limiter.peek('ada').limit).toBe(9)
})

describe('history', () => {
  it('has who changed what, and goes back', async () => {
    const { policies } = limiterOf()
    await policies.set('api', { limit: 7 }, { by: 'ada', from: 'command' })
    await policies.set('api', { limit: 8 }, { by: 'bob' })
    await policies.unset('api', { by: 'eve' })
    const history = await policies.history()
    expect(history.map(({ number, by, action, at }) => [number, by, action, at])).toEqual([
      [3, 'eve', 'unset', NOON],
      [2, 'bob', 'set', NOON],
      [1, 'ada', 'set', NOON],
    ])
    await policies.rollback()
    expect((await policies.list())[0]).toMatchObject({ limit: 8, codeLimit: 5 })
    await policies.rollback(2)
    expect((await policies.list())[0]).toMatchObject({ limit: 7 })
    await expect(policies.rollback(99)).rejects.toMatchObject({ code: 'SLUICE_OPTION_VALUE' })
  })

  it('goes back to before a change, also of the other policies that have changed since', async () => {
    const { policies } = limiterOf()
    limiterOf({ name: 'other' })
    await policies.set('api', { limit: 7 })
    await policies.set('other', { limit: 8 })
    await policies.rollback(1)
    expect((await policies.list()).map(({ limit }) => limit)).toEqual([5, 5])
  })

  it('keeps the last 50 changes', async () => {
    const { policies } = limiterOf()
    for (let i = 0; i < 60; i += 1) await policies.set('api', { limit: 10 + i })
    const history = await policies.history()
    expect([history.length, history[0]?.number, history.at(-1)?.number]).toEqual([50, 60, 11])
  })

  it('also of 96 policies that change together, each with what was there before', async () => {
    const names = Array.from({ length: 96 }, (_, i) => `policy-${i}`)
    const limiters = names.map((name) => limiterOf({ name }))
    const { policies } = limiters[0] as (typeof limiters)[0]
    const all = (limit: number) => Object.fromEntries(names.map((name) => [name, { limit }]))
    for (let i = 1; i <= 60; i += 1) await policies.apply(all(i))
    const history = await policies.history()
    expect([history.length, history.at(-1)?.number]).toEqual([50, 11])
    for (const { number, before, after } of history) {
      expect(Object.keys(before)).toEqual(names)
      expect(before['policy-7']).toEqual([{ set: { limit: number - 1 } }])
      expect(after['policy-7']).toEqual([{ set: { limit: number } }])
    }
    await policies.rollback(11)
    expect((await policies.list())[0]).toMatchObject({ limit: 10 })
  })

  it('the second of two writers who have seen the same learns of the first', async () => {
    const { policies } = limiterOf()
    await policies.set('api', { limit: 7 }, { seen: 0, by: 'ada' })
    await expect(policies.set('api', { limit: 8 }, { seen: 0 })).rejects.toMatchObject({
      code: 'SLUICE_POLICY_CHANGED',
      message: expect.stringContaining('by ada'),
    })
    expect((await policies.list())[0]?.limit).toBe(7)
  })
})

it('apply sets all, and diff says what it would change', async () => {
  const limiter = limiterOf()
  const other = limiterOf({ name: 'other', prefix: 'sluice', window: '1h' })
  await limiter.policies.set('api', { limit: 7 })
  expect(await limiter.policies.diff({ other: { enforce: 0.5 } })).toEqual([
    { name: 'api', before: { limit: 7 }, after: undefined },
    { name: 'other', before: undefined, after: { enforce: 0.5 } },
  ])
  await limiter.policies.apply({ other: { enforce: 0.5 } })
  expect(await limiter.policies.list()).toMatchObject([
    { name: 'api', limit: 5, settings: undefined },
    { name: 'other', limit: 5, enforced: 0.5 },
  ])
  other.close()
})

describe('an event', () => {
  const events: PolicyChangeEvent[] = []
  const note = (event: unknown) => void events.push(event as PolicyChangeEvent)
  beforeEach(() => {
    events.length = 0
    subscribe('sluice:policy', note)
  })
  afterEach(() => {
    unsubscribe('sluice:policy', note)
  })

  it('says what a process has taken over, and what holds from the start', async () => {
    const limiter = limiterOf()
    await limiter.policies.list()
    expect(events).toMatchObject([
      { limiter: 'api', policy: 'default', id: 'api', limit: 5, before: 5, source: 'code' },
    ])
    await limiter.policies.set('api', { limit: 7 }, { for: '1m' })
    clock.advance(60_000)
    limiter.peek('ada')
    expect(events.slice(1)).toMatchObject([
      {
        limiter: 'api',
        policy: 'default',
        id: 'api',
        limit: 7,
        before: 5,
        codeLimit: 5,
        source: 'document',
      },
      { id: 'api', limit: 5, before: 7, codeLimit: 5, source: 'code' },
    ])
  })

  it('says of a limiter what is set when it comes, and only of those that change', async () => {
    const first = limiterOf()
    await first.policies.set('api', { limit: 7 })
    const second = limiterOf({ name: 'other', window: '1h' })
    await second.policies.list()
    await second.policies.set('other', { limit: 9 })
    expect(events.map(({ id, limit, source }) => [id, limit, source])).toEqual([
      ['api', 5, 'code'],
      ['api', 7, 'document'],
      ['other', 5, 'code'],
      ['other', 9, 'document'],
    ])
  })

  it.each([
    ['without a document', async () => ({ text: undefined, at: NOON })],
    ['that fails', () => Promise.reject(new Error('the store is away'))],
  ])('is published of a remote store %s', async (_, read) => {
    const documents = { read, replace: async () => false }
    const limiter = createLimiter({ ...API, store: { ...failingStore(), documents } })
    await until(async () => events.length > 0, { everyMs: 5, what: 'an event' })
    expect(events).toMatchObject([{ id: 'api', limit: 5, source: 'code' }])
    limiter.close()
  })

  it('is published if the first document is wrong', async () => {
    await write('{')
    await limiterOf().policies.list()
    expect(events).toMatchObject([{ id: 'api', limit: 5, source: 'code' }])
  })
})

it('a limiter that comes later has what is set, and one that closes no longer', async () => {
  const first = limiterOf()
  await first.policies.set('api', { limit: 7 })
  const second = limiterOf({ window: '1h' })
  await second.policies.list()
  expect(second.peek('ada').limit).toBe(7)
  second.close()
  await first.policies.set('api', { limit: 8 })
  expect(second.peek('ada').limit).toBe(7)
})
