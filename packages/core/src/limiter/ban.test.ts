import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter, type Decision, type Limiter, memoryStore, type Store } from '../index.ts'
import { type FailingStore, failingStore, type ManualClock, manualClock } from '../testing/index.ts'
import { Policy } from './policy.ts'
import { StoreLimiter } from './store-limiter.ts'

const ban = { after: 3, within: '1h', for: ['10m', '2h'] } as const
const terms = { prefix: 'sluice', limit: 1, window: '1m', algorithm: 'fixed-window', ban } as const
const MINUTE = 60_000

let clock: ManualClock
beforeEach(() => {
  clock = manualClock()
})

describe('a limiter with a ban', () => {
  const limiterOf = (options: object = {}) =>
    createLimiter({ ...terms, store: memoryStore({ clock }), ...options })

  test('refuses everything after so many refusals, and says until when in the same call', () => {
    const limiter = limiterOf()
    limiter.consume('a')
    for (const left of [1, 2]) expect(limiter.consume('a', { cost: left }).ban).toBeUndefined()
    const began = limiter.consume('a')
    expect(began).toMatchObject({ allowed: false, ban: { began: true, endsMs: 10 * MINUTE } })
    expect(began).toMatchObject({ retryAfterMs: 10 * MINUTE, remaining: 0 })
    expect(began.policies[0]).toMatchObject({ allowed: false, effectiveMs: 10 * MINUTE })
    clock.advance(10 * MINUTE - 1)
    expect(limiter.consume('a')).toMatchObject({
      allowed: false,
      remaining: 0,
      retryAfterMs: 1,
      ban: { began: false, endsMs: 1 },
    })
    clock.advance(1)
    expect(limiter.consume('a')).toMatchObject({ allowed: true, ban: undefined })
  })

  test('a quota that is back after the end of the ban is what the client waits for', () => {
    const limiter = limiterOf({ window: '1h' })
    for (let i = 0; i < 3; i += 1) limiter.consume('a')
    expect(limiter.consume('a')).toMatchObject({
      ban: { endsMs: 10 * MINUTE },
      retryAfterMs: 60 * MINUTE,
      resetMs: 60 * MINUTE,
    })
  })

  test('shows of a quota that has units left when the ban ends, and not when that is full', () => {
    const day = { name: 'day', limit: 100, window: '1d', algorithm: 'fixed-window' }
    const { limit, window, algorithm } = terms
    const policies = [{ name: 'minute', limit, window, algorithm }, day]
    const options = { store: memoryStore({ clock }), policies, ban: { ...ban, after: 1 } }
    const limiter = createLimiter(options as never) as Limiter<'sync'>
    for (let i = 0; i < 2; i += 1) limiter.consume('a')
    expect(limiter.peek('a').policies[1]).toMatchObject({
      allowed: false,
      remaining: 0,
      resetMs: 10 * MINUTE,
      retryAfterMs: 10 * MINUTE,
    })
  })

  test('refuses by every policy of its key, also by one that is a dry run', () => {
    const { limit, window, algorithm } = terms
    const policies = [true, false].map((dryRun) => {
      return { name: `dry: ${dryRun}`, limit, window, algorithm, dryRun }
    })
    const options = { store: memoryStore({ clock }), policies, ban: { ...ban, after: 1 } }
    const limiter = createLimiter(options)
    limiter.consume('a')
    const refused = limiter.consume('a').policies.map(({ allowed, dryRun }) => [allowed, dryRun])
    expect(refused).toEqual([
      [false, undefined],
      [false, undefined],
    ])
  })

  test('does not count what a block refuses', () => {
    const limiter = limiterOf()
    limiter.block('a', '1m')
    for (let i = 0; i < 5; i += 1) limiter.consume('a')
    clock.advance(MINUTE)
    expect(limiter.consume('a')).toMatchObject({ allowed: true, ban: undefined })
  })

  test('bans for longer while it goes on', () => {
    const limiter = limiterOf({ ban: { ...ban, after: 1 } })
    const endsMs = () => {
      limiter.consume('a')
      return limiter.consume('a').ban?.endsMs
    }
    expect(endsMs()).toBe(10 * MINUTE)
    clock.advance(10 * MINUTE)
    expect(endsMs()).toBe(120 * MINUTE)
    clock.advance(120 * MINUTE)
    expect(endsMs()).toBe(120 * MINUTE)
    clock.advance(180 * MINUTE)
    expect(endsMs()).toBe(10 * MINUTE)
  })

  test('the bans of a dry run are not those of the limiter', () => {
    const store = memoryStore({ clock })
    const policies = [new Policy('', terms)]
    const [dry, real] = [true, false].map(
      (dryRun) => new StoreLimiter(policies, { store, ban }, { dryRun }) as Limiter<'sync'>,
    )
    for (let i = 0; i < 5; i += 1) dry!.consume('a')
    expect(dry!.peek('a').ban).toBeDefined()
    expect(real!.peek('a').ban).toBeUndefined()
  })
})

describe('of a request with several keys', () => {
  const policies = ['address', 'user'].map(
    (name) => new Policy('', { name, limit: 1, window: '1m', algorithm: 'fixed-window' }),
  )

  test('a refusal of one key bans no other', () => {
    const limiter = new StoreLimiter(policies, {
      store: memoryStore({ clock }),
      ban: { ...ban, after: 1 },
    })
    const decide = (address: string, user: string) =>
      limiter.decide([
        { key: address, limit: policies[0]!.anyLimit(), cost: 1 },
        { key: user, limit: policies[1]!.anyLimit(), cost: 1 },
      ]) as Decision
    expect(decide('1', 'alice').allowed).toBe(true)
    // Somebody else's address, with the name of a user who has nothing left.
    expect(decide('2', 'alice')).toMatchObject({ allowed: false, ban: undefined })
    expect(decide('2', 'bob').allowed).toBe(true)
    expect(decide('1', 'carol').ban).toMatchObject({ began: true })
    // The ban is of the address: what the user has left is shown as it is.
    const { policies: shown } = decide('1', 'carol')
    expect(shown.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [false, 0],
      [true, 1],
    ])
  })
})

describe('a memory store', () => {
  test('keeps nothing of who was never refused, and makes no room for it', () => {
    const store = memoryStore({ clock, maxKeys: 10 })
    const limiter = createLimiter({ ...terms, limit: 2, store })
    for (let i = 0; i < 10; i += 1) limiter.consume(`${i}`)
    expect(store.size).toBe(10)
    for (let i = 0; i < 10; i += 1) expect(limiter.consume(`${i}`).remaining).toBe(0)
  })

  test('that is full of refused keys counts no refusals, so that no two keys share a ban', () => {
    const limiter = createLimiter({ ...terms, store: memoryStore({ clock, maxKeys: 10 }) })
    for (let i = 0; i < 10; i += 1) limiter.consume(`${i}`)
    for (let i = 0; i < 10; i += 1) for (let n = 0; n < 9; n += 1) limiter.consume(`${i}`)
    clock.advance(MINUTE)
    for (let i = 0; i < 10; i += 1) expect(limiter.peek(`${i}`).ban).toBeUndefined()
  })
})

describe('beside a remote store', () => {
  let store: FailingStore
  beforeEach(() => {
    store = failingStore({ clock })
  })
  afterEach(() => store.close())

  test('every refusal counts until the ban begins, and then none costs a call', async () => {
    const limiter = createLimiter({ ...terms, store })
    await limiter.consume('a')
    for (let i = 0; i < 2; i += 1) {
      expect(await limiter.consume('a')).toMatchObject({ source: 'store', ban: undefined })
    }
    expect((await limiter.consume('a')).ban).toEqual({ began: true, endsMs: 10 * MINUTE })
    const { calls } = store
    clock.advance(1000)
    for (let i = 0; i < 100; i += 1) {
      expect(await limiter.consume('a')).toMatchObject({
        source: 'cache',
        remaining: 0,
        retryAfterMs: 10 * MINUTE - 1000,
        ban: { began: false, endsMs: 10 * MINUTE - 1000 },
      })
    }
    expect(store.calls).toBe(calls)
  })

  test('a refusal that is remembered holds while the store fails, and is not counted', async () => {
    const limiter = createLimiter({ ...terms, store })
    await limiter.consume('a')
    await limiter.consume('a')
    store.fail()
    let calls: number
    do {
      calls = store.calls
      await limiter.consume('b')
      // The breaker counts the failures of one millisecond as one.
    } while (store.calls > calls)
    for (let i = 0; i < 9; i += 1) {
      expect(await limiter.consume('a')).toMatchObject({ source: 'cache', ban: undefined })
    }
  })

  test('a remembered ban refuses although the policy has something left, and here alone', async () => {
    const limiter = createLimiter({ ...terms, store, ban: { ...ban, after: 1 } })
    await limiter.consume('a')
    await limiter.consume('a')
    clock.advance(MINUTE)
    // Its policy is the same, without a ban.
    const plain = createLimiter({ ...terms, ban: undefined, store })
    expect((await plain.peek('a')).remaining).toBe(1)
    const { ban: held, source } = await limiter.consume('a')
    expect([held?.began, source]).toEqual([false, 'store'])
    expect(await limiter.consume('a')).toMatchObject({ source: 'cache', remaining: 0 })
    expect(await plain.consume('a')).toMatchObject({ allowed: true })
  })

  test('that decides keys separately, a refusal is counted once, and for its key alone', async () => {
    const apart = {
      ...store,
      open: (...of: Parameters<typeof store.open>) => ({ ...store.open(...of), shard: () => 0 }),
    }
    const policies = ['address', 'user'].map(
      (name) => new Policy('', { name, limit: 1, window: '1m', algorithm: 'fixed-window' }),
    )
    const limiter = new StoreLimiter(policies, { store: apart, ban, refusalCache: false })
    const decide = (...keys: string[]) =>
      limiter.decide(
        policies.map((policy, i) => ({ key: keys[i]!, limit: policy.anyLimit(), cost: 1 })),
      )
    await decide('1', 'alice')
    for (let i = 0; i < 5; i += 1) expect((await decide('2', 'alice')).ban).toBeUndefined()
    for (let i = 0; i < 2; i += 1) expect((await decide('1', 'bob')).ban).toBeUndefined()
    expect((await decide('1', 'bob')).ban).toMatchObject({ began: true })
    expect(await decide('2', 'bob')).toMatchObject({ allowed: true })
    limiter.close()
  })

  test.each([
    ['without a ban', undefined, 160],
    ['with a ban', ban, 80],
  ])(
    '%s, a call has as many requests as the store decides in a short time',
    async (_, has, most) => {
      const sizes: number[] = []
      const sharing: Store<'async'> = {
        ...store,
        open(...of) {
          const ledger = store.open(...of)
          return {
            ...ledger,
            decide(requests) {
              sizes.push(requests.length)
              return ledger.decide(requests)
            },
          }
        },
      }
      const limiter = createLimiter({ ...terms, store: sharing, ban: has })
      await Promise.all(Array.from({ length: 200 }, (_, i) => limiter.consume(`${i}`)))
      expect(Math.max(...sizes)).toBe(most)
    },
  )

  test('while it fails this process counts', async () => {
    store.fail()
    const limiter = createLimiter({ ...terms, store })
    for (let i = 0; i < 3; i += 1) await limiter.consume('a')
    expect(await limiter.consume('a')).toMatchObject({ source: 'local', ban: { began: true } })
    expect(await limiter.consume('a')).toMatchObject({ source: 'local', ban: { began: false } })
  })
})

test('while stores fail, limiters that share bans have their own durations', async () => {
  const store = failingStore({ clock })
  store.fail()
  const limiters = ['10m', '20m'].map((duration) =>
    createLimiter({ ...terms, store, ban: { ...ban, after: 1, for: [duration as '10m'] } }),
  )
  const ends: unknown[] = []
  for (const [i, limiter] of limiters.entries()) {
    for (let asked = 0; asked < 2; asked += 1) await limiter.consume(`${i}`)
    const { source, ban: held } = await limiter.peek(`${i}`)
    ends.push([source, held?.endsMs])
    limiter.close()
  }
  expect(ends).toEqual([
    ['local', 10 * MINUTE],
    ['local', 20 * MINUTE],
  ])
})

describe('wrong options', () => {
  test.each([
    ['ban', true],
    ['ban.after', { ...ban, after: 0 }],
    ['ban.after', { ...ban, after: 101 }],
    ['ban.within', { ...ban, within: 'soon' }],
    ['ban.for', { ...ban, for: [] }],
    ['ban.for', { ...ban, for: '1m' }],
    ['ban.for', { ...ban, for: Array(11).fill('1m') }],
    ['ban.for[1]', { ...ban, for: ['1m', 0] }],
    ['ban.until', { ...ban, until: '1m' }],
  ])('%s', (option, given) => {
    expect(() => createLimiter({ ...terms, ban: given as never })).toThrow(
      expect.objectContaining({ option }),
    )
  })
})
