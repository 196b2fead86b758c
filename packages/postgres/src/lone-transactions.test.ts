import { afterEach, expect, it, jest } from '@jest/globals'
import type { Transaction } from '@sluice/transactional'
import { LoneTransactions, type RoundTrips } from './lone-transactions.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

/** The server's clock is so far ahead of this process'. */
const AHEAD = 1_800_000_000_000

/** A server with the rows `a`, a number in one byte, and `b`, whose clock and network the test sets. */
function server(clock?: () => number) {
  const trips: string[] = []
  let local = 1000
  jest.spyOn(performance, 'now').mockImplementation(() => local)
  const at = {
    row: undefined as string | undefined,
    other: undefined as string | undefined,
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
    read: async (keys) => {
      const time = arrive('read')
      return { states: keys.map((key) => (key === 'b' ? at.other : at.row)), time }
    },
    readAll: (keys) => connection.read(keys),
    writeOrRead: async (...asked) => {
      const isWritten = (await connection.write(...asked)) !== undefined
      return { states: [at.row], time: AHEAD + local, isWritten }
    },
    write: async (writes, _now, on) => {
      at.before()
      const time = arrive('write')
      const isFound = writes.every(({ key, found }) => (key === 'b' ? at.other : at.row) === found)
      if (!isFound || time < on.from || time > on.until) return undefined
      for (const { key, change } of writes) {
        if (change === undefined) continue
        const state = change.state && Buffer.from(change.state).toString('hex')
        if (key === 'b') at.other = state
        else at.row = state
      }
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
    return (await lone.transact(['a'], decide as never, 100))?.value
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
    expect(await lone.transact(['a'], decide, 100)).toEqual({ value: 'banned' })
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

it('what a locked transaction has written is known', async () => {
  const { at, lone, count, took } = server()
  lone.learn([{ key: 'a', state: Uint8Array.of(1), ttlMs: 1 }], AHEAD)
  at.row = '01'
  // The clock is not known yet.
  expect([await count(), took()]).toEqual([2, 'read,write'])
  lone.learn([{ key: 'a', state: Uint8Array.of(1), ttlMs: 1 }], AHEAD)
  at.row = '01'
  expect([await count(), took()]).toEqual([2, 'write'])
})

it('several keys are written in one round trip, all of them or none', async () => {
  const { at, lone, took } = server()
  const add: Parameters<typeof lone.transact<number[]>>[1] = (states) => {
    const value = states.map((state) => (state?.[0] ?? 0) + 1)
    const changes = value.map((each, i) => ({
      key: 'ab'[i] as string,
      state: Uint8Array.of(each),
      ttlMs: 1,
    }))
    return { value, changes }
  }
  const both = async () => (await lone.transact(['a', 'b'], add, 100))?.value
  expect([await both(), took()]).toEqual([[1, 1], 'read,write'])
  expect([await both(), took()]).toEqual([[2, 2], 'write'])
  at.other = '08'
  expect([await both(), took()]).toEqual([[3, 9], 'write,read,write'])
  // What others change is read. The other key alone is not theirs.
  expect([await both(), took()]).toEqual([[4, 10], 'read,write'])
  expect([await both(), took()]).toEqual([[5, 11], 'write'])
})

it('a key that is only read must have the state that was read, and stays as it is', async () => {
  const { at, lone, took } = server()
  const copy: Parameters<typeof lone.transact<number>>[1] = ([, other]) => ({
    value: other?.[0] ?? 0,
    changes: [{ key: 'a', state: Uint8Array.of(other?.[0] ?? 0), ttlMs: 1 }],
  })
  const turn = async () => (await lone.transact(['a', 'b'], copy, 100))?.value
  expect([await turn(), took(), at.other]).toEqual([0, 'read,write', undefined])
  at.other = '07'
  expect([await turn(), took(), at.row]).toEqual([7, 'write,read,write', '07'])
})

it('more than 16 keys are locked', async () => {
  const { lone, took } = server()
  const keys = Array.from({ length: 17 }, (_, i) => `${i}`)
  expect(await lone.transact(keys, () => ({ value: 1, changes: [] }), 100)).toBeUndefined()
  expect(await lone.transact(keys.slice(1), () => ({ value: 1, changes: [] }), 100)).toBeDefined()
  expect(took()).toBe('read')
})

it.each([
  [10_000, 1],
  [4_000, 1000],
])('the states of the last %i keys of %i bytes are known', async (count, bytes) => {
  const { at, lone, took } = server()
  const state = new Uint8Array(bytes)
  at.row = Buffer.from(state).toString('hex')
  const write = async (key: string) => {
    await lone.transact([key], () => ({ value: 1, changes: [{ key, state, ttlMs: 0 }] }), 100)
    return took()
  }
  for (let i = 0; i <= count; i += 1) lone.learn([{ key: `${i}`, state, ttlMs: 0 }], 0)
  await write('x')
  expect([await write('3'), await write('0')]).toEqual(['write', 'read,write'])
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

it('a client that cannot lock decides again until nobody else was faster', async () => {
  const { at, lone, count, took } = server()
  let others = 3
  at.before = () => {
    if (others > 0) at.row = `0${others}`
    others -= 1
  }
  const add = ([state]: readonly (Uint8Array | undefined)[]) => {
    const value = (state?.[0] ?? 0) + 1
    return { value, changes: [{ key: 'a', state: Uint8Array.of(value), ttlMs: 1 }] }
  }
  expect([await lone.swap(['a'], add, 100), took()]).toEqual([2, 'read,write,write,write,write'])
  at.before = () => {
    at.row = at.row === '01' ? '02' : '01'
    at.pass(30)
  }
  await expect(lone.swap(['a'], add, 100)).rejects.toMatchObject({
    code: 'SLUICE_STORE_CONTENTION',
  })
  at.before = () => {}
  at.error = new Error('lost')
  await expect(count()).rejects.toThrow('lost')
  at.error = undefined
  expect(await lone.swap(['a'], add, 100)).toBeGreaterThan(1)
  // Without a lock it is available again.
  took()
  await count()
  expect(took()).not.toBe('')
})
