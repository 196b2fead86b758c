import { describe, expect, it } from '@jest/globals'
import { RoutedLimiter } from '@sluice/http/adapter'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { failingStore, manualClock } from '../testing/index.ts'
import { createLimiter } from './create-limiter.ts'

const DAY = 86_400_000
const minute = { limit: 5, window: '1m', algorithm: 'fixed-window' } as const

function inMemory(options: object = minute, now = 1_800_000_000_000) {
  const clock = manualClock(now)
  const store = memoryStore({ clock })
  return {
    clock,
    store,
    limiter: createLimiter({ store, ...options } as never) as ReturnType<typeof sync>,
  }
}
const sync = () => createLimiter(minute)

describe('override', () => {
  it('shows the own limit in the decision, and ends when it said', () => {
    const { limiter, clock } = inMemory()
    limiter.override('ada', { limit: 9, until: new Date(clock() + 1000) })
    expect(limiter.consume('ada')).toMatchObject({ limit: 9, remaining: 8 })
    clock.advance(1000)
    expect(limiter.consume('ada')).toMatchObject({ limit: 5, remaining: 3 })
  })

  it('ends then also where a top-up goes on', () => {
    const { limiter, clock } = inMemory()
    limiter.override('ada', { limit: 9, until: clock() + 1000 })
    limiter.grant('ada', 2, { until: clock() + 30_000 })
    expect(limiter.peek('ada')).toMatchObject({ limit: 11 })
    clock.advance(1000)
    expect(limiter.peek('ada')).toMatchObject({ limit: 7 })
  })

  it('null ends what the key has in every policy, and a limit of null that of one', () => {
    const policies = ['one', 'two'].map((name) => ({ ...minute, name }))
    const { limiter } = inMemory({ policies })
    const limits = () => limiter.peek('ada').policies.map(({ limit }) => limit)
    for (const { name } of policies) limiter.override('ada', { policy: name, limit: 9 })
    expect(limits()).toEqual([9, 9])
    limiter.override('ada', { policy: 'one', limit: null })
    expect(limits()).toEqual([5, 9])
    limiter.override('ada', { policy: 'one', limit: 7 })
    limiter.override('ada', null)
    expect(limits()).toEqual([5, 5])
  })

  describe('where the window is a function of the request', () => {
    const hour = { window: '1h' } as const
    const open = () => {
      const store = failingStore({ clock: manualClock(1_800_000_000_000) })
      const processOf = () => {
        const options = { limit: 1, window: () => '1h' as const, store }
        return new RoutedLimiter(options, { kind: 'test' } as never).limiter
      }
      return [processOf(), processOf()] as const
    }

    it('holds in all windows, also for a client that is being refused', async () => {
      const [limiter] = open()
      await limiter.consume('key:ada', hour)
      expect(await limiter.consume('key:ada', hour)).toMatchObject({ allowed: false })
      await limiter.override('key:ada', { limit: 9, window: '1m' })
      expect(await limiter.consume('key:ada', hour)).toMatchObject({ allowed: true, limit: 9 })
      await limiter.override('key:ada', null)
      expect(await limiter.consume('key:ada', hour)).toMatchObject({ allowed: false, limit: 1 })
    })

    it('is ended by a process that has had no request', async () => {
      const [limiter, other] = open()
      await limiter.override('key:ada', { limit: 9, window: '1m' })
      await other.override('key:ada', null)
      expect(await limiter.peek('key:ada', hour)).toMatchObject({ limit: 1 })
    })
  })

  it.each([
    ['the policy', { limit: 5 }, 'policy'],
    ['a limit', { policy: 'one' }, 'limit'],
    ['a limit of the range', { policy: 'one', limit: 2 ** 53 }, 'limit'],
    ['a time to come', { policy: 'one', limit: 5, until: 1_700_000_000 }, 'until'],
    ['a time', { policy: 'one', limit: 5, until: '2030-01-01' }, 'until'],
    ['known members', { policy: 'one', limit: 5, util: 5 }, 'util'],
  ])('needs %s', (_, override, option) => {
    const { limiter } = inMemory({ policies: ['one', 'two'].map((name) => ({ ...minute, name })) })
    expect(() => limiter.override('ada', override as never)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(option) }),
    )
  })

  it.each([
    ['ahead', Date.UTC(2100, 0)],
    ['behind', Date.UTC(2000, 0)],
  ])('ends by the clock of the store, which is far %s', (_, now) => {
    const { limiter } = inMemory(minute, now)
    expect(() => limiter.override('ada', { limit: 9, until: now - 1 })).toThrow('until')
    limiter.override('ada', { limit: 9, until: now + 1 })
    expect(limiter.peek('ada').limit).toBe(9)
  })

  it('has room for as many clients as the memory store, and refuses a further one', () => {
    const clock = manualClock(1_800_000_000_000)
    const store = memoryStore({ clock, maxKeys: 3 })
    const limiter = createLimiter({ ...minute, store })
    for (const key of ['a', 'b']) limiter.override(key, { limit: 9 })
    limiter.override('c', { limit: 9, until: clock() + DAY })
    expect(() => limiter.override('d', { limit: 9 })).toThrow('maxKeys')
    limiter.override('a', { limit: 7 })
    // A flood of clients evicts counts, never a limit that the application has set.
    for (let i = 0; i < 100; i += 1) limiter.consume(`client ${i}`)
    expect(limiter.peek('a').limit).toBe(7)
    clock.advance(DAY)
    limiter.override('d', { limit: 9 })
    expect(['a', 'b', 'c', 'd'].map((key) => limiter.peek(key).limit)).toEqual([7, 9, 5, 9])
  })

  it('of a middleware is that of its key, in the fields too', async () => {
    const store = memoryStore({ clock: manualClock(1_800_000_000_000) })
    const { limiter } = new RoutedLimiter({ ...minute, store }, { kind: 'test' } as never)
    await limiter.override('2001:db8::1', { limit: 9 })
    await limiter.grant('2001:db8::1', 2)
    expect(await limiter.peek('2001:db8:0:0:1::')).toMatchObject({ limit: 11 })
  })
})

describe('grant', () => {
  it('adds units once for an id, until the window ends', () => {
    const { limiter, clock } = inMemory()
    expect(limiter.grant('ada', 100, { id: 'invoice 1' })).toBe(true)
    expect(limiter.grant('ada', 100, { id: 'invoice 1' })).toBe(false)
    expect(limiter.peek('ada')).toMatchObject({ limit: 105, remaining: 105 })
    clock.advance(60_000)
    expect(limiter.peek('ada')).toMatchObject({ limit: 5, remaining: 5 })
  })

  it('ends by itself, also beside another one without an id', () => {
    const { limiter, clock } = inMemory()
    for (const days of [1, 2]) limiter.grant('ada', 10, { until: new Date(clock() + days * DAY) })
    expect(limiter.peek('ada').limit).toBe(25)
    clock.advance(DAY)
    expect(limiter.peek('ada').limit).toBe(15)
  })

  it.each(['token-bucket', 'leaky-bucket'] as const)(
    'is an error of a %s, which has no window',
    (algorithm) => {
      const { limiter } = inMemory({ ...minute, algorithm })
      expect(() => limiter.grant('ada', 5)).toThrow('in windows')
    },
  )

  it('is an error beyond 32 that have an id each, and beyond the largest limit', () => {
    const { limiter } = inMemory()
    for (let i = 0; i < 32; i += 1) limiter.grant('ada', 1, { id: `${i}` })
    expect(() => limiter.grant('ada', 1, { id: 'x' })).toThrow('at most 32')
    expect(() => limiter.grant('bob', 1e12 + 1)).toThrow('units')
    limiter.override('cyd', { limit: Number.MAX_SAFE_INTEGER - 5 })
    expect(limiter.grant('cyd', 5)).toBe(true)
    expect(() => limiter.grant('cyd', 1)).toThrow('units')
    expect(() => limiter.grant('bob', 0)).toThrow('units')
    expect(() => limiter.grant('bob', 1, { id: '' })).toThrow('id')
  })
})

it('an until that has passed by the clock of the store is an error, as one that has passed here', () => {
  const store = memoryStore()
  const open = store.open.bind(store)
  store.open = (...of) => Object.assign(open(...of), { change: () => 'ended' })
  const limiter = createLimiter({ ...minute, store })
  const until = new Date(Date.now() + DAY)
  expect(() => limiter.grant('ada', 5, { until })).toThrow('after now')
})

describe('on a remote store', () => {
  function remote() {
    const clock = manualClock(1_800_000_000_000)
    const store = failingStore({ clock })
    return { clock, store, limiter: createLimiter({ ...minute, store, refusalCache: true }) }
  }

  it('ends the remembered refusals of the key at once', async () => {
    const { limiter } = remote()
    await limiter.consume('ada', { cost: 5 })
    await limiter.consume('ada')
    expect(await limiter.consume('ada')).toMatchObject({ allowed: false, source: 'cache' })
    await limiter.override('ada', { limit: 9 })
    expect(await limiter.consume('ada')).toMatchObject({ allowed: true, limit: 9, remaining: 3 })
    await limiter.consume('ada', { cost: 3 })
    await limiter.consume('ada')
    expect(await limiter.consume('ada')).toMatchObject({ source: 'cache', limit: 9 })
    await limiter.grant('ada', 1)
    expect(await limiter.consume('ada')).toMatchObject({ allowed: true, limit: 10 })
  })

  it('a remembered refusal ends with the limit that has refused', async () => {
    const { limiter, clock } = remote()
    await limiter.override('ada', { limit: 1, until: clock() + 500 })
    await limiter.consume('ada')
    await limiter.consume('ada')
    clock.advance(499)
    expect(await limiter.consume('ada')).toMatchObject({ source: 'cache', limit: 1 })
    clock.advance(1)
    expect(await limiter.consume('ada')).toMatchObject({ allowed: true, source: 'store', limit: 5 })
  })

  it('is not confirmed while the store fails, and does not hold here either', async () => {
    const { limiter, store } = remote()
    store.fail()
    await expect(limiter.override('ada', { limit: 9 })).rejects.toMatchObject({
      code: 'SLUICE_STORE_UNAVAILABLE',
    })
    await expect(limiter.grant('ada', 9, { id: 'a' })).rejects.toThrow('the same id')
    expect(await limiter.consume('ada')).toMatchObject({ source: 'local', limit: 5 })
  })
})
