import { afterEach, expect, it, jest } from '@jest/globals'
import type { Transaction } from '@sluice/core/store'
import { type Condition, LoneTransactions, type RoundTrips } from './lone-transactions.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

/** The server's clock is so far ahead of this process'. */
const AHEAD = 1_800_000_000_000

/** A server with one row, a number in one byte, whose clock and network the test sets. */
function server(clock?: () => number) {
  const trips: string[] = []
  let local = 1000
  jest.spyOn(performance, 'now').mockImplementation(() => local)
  const at = {
    row: undefined as string | undefined,
    /** How long a statement is on its way, ms. */
    delay: 0.5,
    stepped: 0,
    /** Called before a write. */
    before: () => {},
    error: undefined as Error | undefined,
    pass(ms: number) {
      local += ms
    },
  }
  const arrive = (name: string) => {
    trips.push(name)
    if (at.error !== undefined) throw at.error
    local += at.delay
    return AHEAD + local + at.stepped
  }
  const connection: RoundTrips = {
    read: async () => {
      const time = arrive('read')
      return { state: at.row, time }
    },
    write: async ({ state }, _now, on: Condition) => {
      at.before()
      const time = arrive('write')
      if (at.row !== on.state || time < on.from || time > on.until) return undefined
      at.row = state && Buffer.from(state).toString('hex')
      return time
    },
  }
  const lone = new LoneTransactions((_, work) => work(connection), clock)
  const times: number[] = []
  /** Counts to 3; the value is the number. */
  const count = async () => {
    const decide = ([state]: readonly (Uint8Array | undefined)[], now: number) => {
      times.push(now)
      const value = (state?.[0] ?? 0) + 1
      if (value > 3) return { value: 'refused' as const, changes: [] }
      const changes = [{ key: 'a', state: Uint8Array.of(value), ttlMs: 1 }]
      return { value, changes } satisfies Transaction<number>
    }
    return (await lone.transact('a', decide as never, 100))?.value
  }
  const took = () => trips.splice(0).join()
  return { at, lone, count, took, times }
}

it('takes two round trips for the first request of a key, and one for each further one', async () => {
  const { at, count, took, times } = server()
  expect([await count(), took()]).toEqual([1, 'read,write'])
  at.pass(100)
  expect([await count(), took()]).toEqual([2, 'write'])
  // Never later than the server's own time, or than that of the state.
  expect(times).toEqual([AHEAD + 1000, AHEAD + 1100])
  at.pass(0.1)
  expect([await count(), took()]).toEqual([3, 'write'])
  expect(times[2]).toBe(AHEAD + 1101)
})

it('no decision is earlier than that before it', async () => {
  const { at, count, times } = server()
  at.delay = 0
  await count()
  await count()
  expect(times).toEqual([AHEAD + 1000, AHEAD + 1000])
})

it('what another process has changed is read again, and trusted once it has stayed the same', async () => {
  const { at, count, took } = server()
  await count()
  at.row = '00'
  took()
  expect([await count(), took()]).toEqual([1, 'write,read,write'])
  at.row = '01'
  // The key is shared: nothing is guessed.
  expect([await count(), took()]).toEqual([2, 'read,write'])
  expect([await count(), took()]).toEqual([3, 'write'])
})

it('a row that was deleted counts from the start', async () => {
  const { at, count, took } = server()
  await count()
  at.row = undefined
  took()
  expect([await count(), took()]).toEqual([1, 'write,read,write'])
})

it('what changes nothing, such as a refusal, is decided on what was read', async () => {
  const { at, count, took, times } = server()
  at.row = '03'
  expect([await count(), took()]).toEqual(['refused', 'read'])
  at.pass(50)
  expect([await count(), took()]).toEqual(['refused', 'read'])
  expect(times.at(-1)).toBe(AHEAD + 1051)
  // The guess was wrong: another process has had it reset.
  at.row = undefined
  expect([await count(), took()]).toEqual([1, 'read,write'])
})

it('so is what needs the clock, though it changes the state', async () => {
  const { at, lone, took } = server()
  at.row = '01'
  const decide = () => {
    const changes = [{ key: 'a', state: Uint8Array.of(1), ttlMs: 1 }]
    return { value: 'banned', changes, needsClock: true }
  }
  for (let i = 0; i < 2; i += 1) {
    expect(await lone.transact('a', decide, 100)).toEqual({ value: 'banned' })
    expect(took()).toBe('read,write')
  }
})

it('a key that others change between two round trips must be locked for a second', async () => {
  const { at, count, took } = server()
  await count()
  took()
  at.before = () => {
    at.row = at.row === '00' ? '01' : '00'
  }
  expect([await count(), took()]).toEqual([undefined, 'write,read,write'])
  at.before = () => {}
  expect([await count(), took()]).toEqual([undefined, ''])
  at.pass(1000)
  expect([await count(), took()]).toEqual([2, 'read,write'])
})

it.each([
  ['steps', (at: { stepped: number }, sign: number) => (at.stepped = sign * 5000)],
  ['is late', (at: { delay: number }, sign: number) => (at.delay = sign > 0 ? 20 : 0.5)],
])('a guess whose time was wrong charges nothing: the server %s', async (_, change) => {
  for (const sign of [1, -1]) {
    const { at, count, took } = server()
    await count()
    change(at, sign)
    took()
    const isRight = sign < 0 && at.stepped === 0
    expect([await count(), took()]).toEqual([2, isRight ? 'write' : 'write,read,write'])
    expect([await count(), took()]).toEqual([3, 'write'])
  }
})

it('an injected clock is the time, and no write is too late', async () => {
  const { count, took, times } = server(() => 5)
  await count()
  took()
  expect([await count(), took(), times]).toEqual([2, 'write', [5, 5]])
})

it('what a locked transaction has written is known, and a state that is too long is read', async () => {
  const { at, lone, count, took } = server()
  lone.learn([{ key: 'a', state: Uint8Array.of(1), ttlMs: 1 }], AHEAD)
  at.row = '01'
  // The clock is not known yet.
  expect([await count(), took()]).toEqual([2, 'read,write'])
  lone.learn([{ key: 'a', state: Uint8Array.of(1), ttlMs: 1 }], AHEAD)
  at.row = '01'
  expect([await count(), took()]).toEqual([2, 'write'])
  const long = new Uint8Array(257)
  lone.learn([{ key: 'a', state: long, ttlMs: 1 }], AHEAD)
  at.row = Buffer.from(long).toString('hex')
  expect([await count(), took()]).toEqual([1, 'read,write'])
})

it('the states of the last 10,000 keys are known', async () => {
  const { lone, took } = server()
  const write = (key: string) =>
    lone.transact(key, () => ({ value: 1, changes: [{ key, state: undefined, ttlMs: 0 }] }), 100)
  for (let i = 0; i < 10_001; i += 1) lone.learn([{ key: `${i}`, state: undefined, ttlMs: 0 }], 0)
  await write('x')
  took()
  await write('1')
  expect(took()).toBe('read')
  await write('3')
  expect(took()).toBe('write')
})

it('after a failure keys are locked, until that works', async () => {
  const { at, lone, count, took } = server()
  await count()
  at.error = new Error('lost')
  await expect(count()).rejects.toThrow('lost')
  at.error = undefined
  took()
  expect([await count(), took()]).toEqual([undefined, ''])
  lone.learn([], 0)
  expect([await count(), took()]).toEqual([2, 'write'])
})

it('a serialization failure is contention', async () => {
  const { at, count, took } = server()
  await count()
  at.error = Object.assign(new Error('could not serialize access'), { code: '40001' })
  expect(await count()).toBeUndefined()
  at.error = undefined
  at.pass(1000)
  took()
  expect([await count(), took()]).toEqual([2, 'write'])
})
