import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store, StoreMode } from '../stores/store.ts'
import { failingStore, manualClock } from '../testing/index.ts'
import { createLimiter } from './create-limiter.ts'
import type { Limiter } from './limiter.ts'

const HOLD = 30_000

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] })
})
afterEach(() => {
  for (const each of closing.splice(0)) each.close()
  jest.useRealTimers()
})

const closing: { close(): void }[] = []

function closed<T extends { close(): void }>(each: T): T {
  closing.push(each)
  return each
}

function limiterOn<M extends StoreMode>(store: Store<M>, options: object = {}): Limiter<M> {
  const terms = { prefix: 'sluice', concurrent: 2, store, ...options } as never
  return closed(createLimiter(terms) as Limiter as Limiter<M>)
}

/** A limiter of two at a time, on a clock that passes together with the timers. */
function world(options: object = {}) {
  const clock = manualClock()
  const store = closed(memoryStore({ clock }))
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1000) {
      clock.advance(1000)
      jest.advanceTimersByTime(1000)
    }
  }
  return { clock, pass, store, limiter: limiterOn(store, options) }
}

describe('acquire()', () => {
  it('holds slots of several policies, each of which has its own hold', () => {
    const policies = ['1s', '30s'].map((hold, i) => ({ name: `p${i}`, concurrent: 1, hold }))
    const { limiter, pass } = world({ concurrent: undefined, policies })
    limiter.acquire('ada')
    pass(40_000)
    expect(limiter.peek('ada').policies.map(({ remaining }) => remaining)).toEqual([0, 0])
  })

  it('charges now what turns out to cost more, and not to the window in which it began', () => {
    const policies = [
      { name: 'slots', concurrent: 1 },
      { name: 'units', limit: 5, window: '1m', algorithm: 'fixed-window' },
    ]
    const { limiter, pass } = world({ concurrent: undefined, policies })
    const slot = limiter.acquire('ada')
    pass(60_000)
    slot.settle(3)
    expect(limiter.peek('ada').policies[1]).toMatchObject({ remaining: 3 })
  })

  it('admits so many at the same time, and again as many as are given back', () => {
    const { limiter } = world()
    const first = limiter.acquire('ada')
    const second = limiter.acquire('ada')
    expect([first, second]).toMatchObject([
      { allowed: true, remaining: 1, limit: 2 },
      { allowed: true, remaining: 0, policies: [{ unit: 'concurrent-requests' }] },
    ])
    expect(limiter.acquire('ada')).toMatchObject({ allowed: false, retryAfterMs: 1000 })
    expect(limiter.acquire('bob').allowed).toBe(true)
    first.release()
    first.release()
    expect(limiter.peek('ada').remaining).toBe(1)
    expect(limiter.acquire('ada').allowed).toBe(true)
    expect(limiter.acquire('ada').allowed).toBe(false)
  })

  it('survives a synchronous store that fails while it renews and gives back', () => {
    const { store, clock } = world()
    let isFailing = false
    const open = store.open.bind(store)
    jest.spyOn(store, 'open').mockImplementation((keyspaces, prefix) => {
      const ledger = open(keyspaces, prefix)
      const change = ledger.change.bind(ledger)
      ledger.change = (...given) => {
        if (isFailing) throw new Error('disk full')
        return change(...given)
      }
      return ledger
    })
    const limiter = limiterOn(store)
    const slot = limiter.acquire('ada')
    isFailing = true
    jest.advanceTimersByTime(HOLD)
    slot.release()
    isFailing = false
    clock.advance(HOLD)
    expect(limiter.peek('ada').remaining).toBe(2)
  })

  it('is given back at the end of a block, also if that throws', async () => {
    const { limiter } = world()
    const work = async () => {
      await using slot = await limiter.acquire('ada')
      expect(slot.allowed).toBe(true)
      throw new Error('of the application')
    }
    await expect(work()).rejects.toThrow('of the application')
    {
      using slot = limiter.acquire('ada')
      expect([slot.allowed, limiter.peek('ada').remaining]).toEqual([true, 1])
    }
    expect(limiter.peek('ada').remaining).toBe(2)
  })

  it('charges the other policies too, all or none', () => {
    const policies = [
      { name: 'in-flight', concurrent: 2 },
      { name: 'tokens', limit: 10, window: '1m', unit: 'tokens' },
    ]
    const { limiter } = world({ concurrent: undefined, policies })
    const left = () => limiter.peek('ada').policies.map(({ remaining }) => remaining)
    const slot = limiter.acquire('ada', { cost: 7 })
    expect(left()).toEqual([1, 3])
    expect(limiter.acquire('ada', { cost: 4 }).release()).toBeUndefined()
    expect(left()).toEqual([1, 3])
    slot.release()
    expect(left()).toEqual([2, 3])
  })

  it('is of a limiter with concurrent alone, where consume is not', () => {
    const { limiter } = world()
    expect(() => limiter.consume('ada')).toThrow(/acquire\(\)/)
    const windowed = closed(createLimiter({ limit: 1, window: '1m' }))
    expect(() => windowed.acquire('ada')).toThrow(/consume\(\)/)
    expect(() => limiter.acquire('')).toThrow(expect.objectContaining({ code: 'SLUICE_KEY' }))
  })
})

describe('a slot that is held', () => {
  it('is renewed for as long as its process lives', () => {
    const { limiter, pass } = world()
    const slots = [limiter.acquire('ada'), limiter.acquire('ada')]
    pass(10 * HOLD)
    expect(limiter.acquire('ada').allowed).toBe(false)
    for (const slot of slots) slot.release()
    expect(limiter.peek('ada').remaining).toBe(2)
  })

  it.each([
    ['reset', ({ limiter }: ReturnType<typeof world>) => limiter.reset('ada')],
    [
      'block, once that has passed',
      ({ limiter, pass }: ReturnType<typeof world>) => {
        limiter.block('ada', HOLD / 2)
        pass(HOLD / 2)
      },
    ],
  ])('is forgotten by %s until its process renews it', (_, forget) => {
    const all = world()
    const { limiter, pass } = all
    const before = [limiter.acquire('ada'), limiter.acquire('ada')]
    forget(all)
    expect(limiter.acquire('ada')).toMatchObject({ allowed: true, remaining: 1 })
    pass(HOLD / 3)
    for (const slot of before) {
      expect(limiter.acquire('ada').allowed).toBe(false)
      slot.release()
    }
    expect(limiter.acquire('ada')).toMatchObject({ allowed: true, remaining: 0 })
  })

  it('keeps no timer once nothing is held', () => {
    const { limiter } = world()
    expect(jest.getTimerCount()).toBe(0)
    const slots = [limiter.acquire('ada'), limiter.acquire('bob')]
    const timers = jest.getTimerCount()
    for (const slot of slots) slot.release()
    expect([timers > jest.getTimerCount(), limiter.peek('ada').remaining]).toEqual([true, 2])
  })

  it('is not forgotten for the keys of others', () => {
    const store = closed(memoryStore({ maxKeys: 10 }))
    const limiter = limiterOn(store)
    const slots = Array.from({ length: 9 }, (_, i) => limiter.acquire(`key ${i}`))
    for (let i = 0; i < 100; i += 1) limiter.acquire(`flood ${i}`)
    for (let i = 0; i < 9; i += 1) expect(limiter.peek(`key ${i}`).remaining).toBe(1)
    for (const slot of slots) slot.release()
  })
})

describe('a remote store', () => {
  it('renews everything in one call, and gets back what is released', async () => {
    const store = closed(failingStore({ clock: manualClock() }))
    const limiter = limiterOn(store, { concurrent: 5 })
    const slots = []
    for (let i = 0; i < 50; i += 1) slots.push(await limiter.acquire(`key ${i % 20}`))
    const before = store.calls
    await jest.advanceTimersByTimeAsync(HOLD / 3)
    expect(store.calls).toBe(before + 1)
    for (const slot of slots) await slot.release()
    expect((await limiter.peek('key 0')).remaining).toBe(5)
  })

  it('learns what this process admitted without it, and a failure throws nowhere', async () => {
    const clock = manualClock()
    const store = closed(failingStore({ clock }))
    const limiter = limiterOn(store)
    store.fail()
    const slots = []
    for (let i = 0; i < 7; i += 1) slots.push(await limiter.acquire('ada'))
    expect(slots.map(({ allowed }) => allowed)).toEqual([true, true, ...Array(5).fill(false)])
    expect(slots[0]?.source).toBe('local')
    await jest.advanceTimersByTimeAsync(HOLD / 3)
    store.recover()
    for (let i = 0; i < 8; i += 1) {
      await limiter.acquire('bob')
      await jest.advanceTimersByTimeAsync(2000)
    }
    const other = limiterOn(store)
    expect(await other.acquire('ada')).toMatchObject({ allowed: false, source: 'store' })
    await slots[0]?.release()
    expect(await other.acquire('ada')).toMatchObject({ allowed: true, source: 'store' })
    store.fail()
    await slots[1]?.release()
  })

  it('is replaced by this process, which goes on holding what it has taken, and no longer what it gave back', async () => {
    const clock = manualClock()
    const store = closed(failingStore({ clock }))
    const limiter = limiterOn(store, { concurrent: 1 })
    store.fail()
    const slot = await limiter.acquire('ada')
    expect(slot).toMatchObject({ allowed: true, source: 'local' })
    for (let i = 0; i < 9; i += 1) {
      clock.advance(HOLD / 3)
      await jest.advanceTimersByTimeAsync(HOLD / 3)
    }
    expect(await limiter.acquire('ada')).toMatchObject({ allowed: false, source: 'local' })
    await slot.release()
    expect(await limiter.acquire('ada')).toMatchObject({ allowed: true, source: 'local' })
  })

  it('is asked again by the renewals of a process that gets no requests', async () => {
    const clock = manualClock()
    const store = closed(failingStore({ clock }))
    const [holder, other] = [limiterOn(store), limiterOn(store)]
    for (let i = 0; i < 2; i += 1) await holder.acquire('ada')
    store.fail()
    for (let i = 0; i < 5; i += 1) {
      await other.peek('bob')
      await jest.advanceTimersByTimeAsync(1)
    }
    expect((await other.peek('bob')).source).toBe('local')
    clock.advance(HOLD)
    store.recover()
    await jest.advanceTimersByTimeAsync(HOLD / 3)
    expect(await other.acquire('ada')).toMatchObject({ allowed: false, source: 'store' })
  })

  it('admits late what a closed limiter does not renew', async () => {
    const clock = manualClock()
    const store = closed(failingStore({ clock }))
    const [limiter, other] = [limiterOn(store), limiterOn(store)]
    const acquired = limiter.acquire('ada')
    limiter.close()
    expect((await acquired).allowed).toBe(true)
    clock.advance(HOLD)
    await jest.advanceTimersByTimeAsync(HOLD)
    expect((await other.peek('ada')).remaining).toBe(2)
  })
})

describe('options that contradict each other', () => {
  it.each([
    ['limit', { limit: 5 }],
    ['window', { window: '1m' }],
    ['algorithm', { algorithm: 'sliding-log' }],
    ['burst', { burst: 3 }],
    ['unit', { unit: 'tokens' }],
    ['hold', { concurrent: undefined, limit: 5, window: '1m', hold: '5s' }],
  ])('%s', (option, options) => {
    expect(() => world(options)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_CONFLICT', option }),
    )
  })

  it.each([
    ['concurrent', { concurrent: 1001 }],
    ['concurrent', { concurrent: -1 }],
    ['hold', { hold: 999 }],
  ])('%s out of range: %p', (option, options) => {
    expect(() => world(options)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_RANGE', option }),
    )
  })

  it('the path names the policy', () => {
    const policies = [{ name: 'a', concurrent: '5' }]
    expect(() => world({ concurrent: undefined, policies })).toThrow(
      expect.objectContaining({ option: 'policies[0].concurrent' }),
    )
    expect(() => world({ concurrent: () => 5 })).toThrow(
      expect.objectContaining({
        option: 'concurrent',
        expected: 'the same value for every request',
      }),
    )
  })
})
