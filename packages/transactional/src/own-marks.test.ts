// A decision reads what a client has of its own only where its state says that there may be something, or where there
// is no state.

import { expect, it } from '@jest/globals'
import { createLimiter, type InspectOptions, type LimiterOptions } from '@sluice/core'
import { documentKey } from '@sluice/core/internal-stores'
import { manualClock } from '@sluice/core/testing'
import type { ListingBackend } from './transactional-backend.ts'
import { transactionalStore } from './transactional-store.ts'

const MINUTE = 60_000
const RECORD = 'sluice:{ada}:own:default'

/** Rows that several processes share, each of them on its own; transactions happen one after the other. */
function database() {
  const clock = manualClock()
  const rows = new Map<string, { state: Uint8Array; until: number }>()
  /** The keys of each transaction, without the documents. */
  const asked: string[][] = []
  let last: Promise<unknown> = Promise.resolve()
  const at = {
    /** Transactions about the keyspaces that there are wait for it. */
    documents: Promise.resolve() as Promise<void>,
    /** Runs before each transaction about states. */
    before: () => {},
  }
  const find = (key: string) => rows.get(key)?.state
  const backend: ListingBackend = {
    clock,
    async transact(keys, decide) {
      const isDocument = keys.some((key) => key.startsWith(documentKey('sluice', 'keyspaces')))
      if (isDocument) await at.documents
      else {
        asked.push([...keys])
        at.before()
      }
      const done = last.then(() => {
        const { changes, value } = decide(keys.map(find), clock())
        for (const { key, state, ttlMs } of changes) {
          expect(keys).toContain(key)
          if (state === undefined) rows.delete(key)
          else rows.set(key, { state, until: clock() + ttlMs })
        }
        return value
      })
      last = done.catch(() => {})
      return done
    },
    async list({ after, before, count }) {
      await at.documents
      await new Promise(setImmediate)
      const found = [...rows].filter(([key]) => key > after && key < before).sort()
      const keys = found.slice(0, count).map(([key, { state }]) => ({ key, state }))
      return { keys, now: clock() }
    },
  }
  const sweep = () => {
    for (const [key, { until }] of rows) if (until <= clock()) rows.delete(key)
  }
  const process = (options: object = {}) => {
    const given: unknown = {
      limit: 5,
      window: '1m',
      refusalCache: false,
      ...options,
      store: transactionalStore(backend),
    }
    return createLimiter(given as LimiterOptions<'async'>)
  }
  /** The documents of all processes are written. */
  const settled = async () => {
    for (let i = 0; i < 20; i += 1) await new Promise(setImmediate)
  }
  const took = () => asked.splice(0).map((keys) => keys.length)
  const inspect = (options: InspectOptions) => transactionalStore(backend).inspect(options)
  return { at, clock, rows, sweep, process, settled, took, inspect }
}

type Made = ReturnType<typeof database>

/** A process whose states need no mark. */
async function known({ process, settled, took }: Made, options?: object) {
  const limiter = process(options)
  await limiter.consume('first')
  await settled()
  took()
  return limiter
}

it('a client is listed, whatever other keys there are among those of the limiters', async () => {
  const made = database()
  const ada = await known(made)
  await ada.consume('ada')
  const route = await known(made, { prefix: 'sluice.1a2b3c4d' })
  await route.consume('ada')
  const state = Uint8Array.of(1)
  for (const key of ['sluice.', 'sluice.1', 'sluice.x{', 'sluice:', 'sluice:0', 'sluice:ada'])
    made.rows.set(key, { state, until: Infinity })
  const found = []
  for await (const { prefix, key } of made.inspect({ key: 'ada' })) found.push([prefix, key])
  expect(found).toEqual([
    ['sluice.1a2b3c4d', 'ada'],
    ['sluice', 'ada'],
  ])
})

it('a decision on a state reads nothing else, and on a key without one the record too', async () => {
  const made = database()
  const ada = await known(made)
  expect([(await ada.consume('ada')).remaining, made.took()]).toEqual([4, [2]])
  expect([(await ada.consume('ada')).remaining, made.took()]).toEqual([3, [1]])
  expect([(await ada.peek('ada')).remaining, made.took()]).toEqual([3, [1]])
  await ada.settle('ada', -1)
  expect(made.took()).toEqual([1])
  // Another process does not know the key yet.
  const other = await known(made)
  expect([(await other.consume('ada')).remaining, made.took()]).toEqual([3, [2]])
  expect([(await other.consume('ada')).remaining, made.took()]).toEqual([2, [1]])
})

it('a client that has something costs the record, in every process, until that has ended', async () => {
  const made = database()
  const [one, two] = [await known(made), await known(made)]
  for (const each of [one, two]) await each.consume('ada')
  await one.override('ada', { limit: 9, until: made.clock() + 1000 })
  made.took()
  // The first try of each shows the mark to its process.
  expect([(await two.consume('ada')).remaining, made.took()]).toEqual([6, [1, 2]])
  expect([(await two.consume('ada')).remaining, made.took()]).toEqual([5, [2]])
  made.clock.advance(1000)
  expect([(await two.consume('ada')).remaining, made.took()]).toEqual([0, [2]])
  expect(made.rows.has(RECORD)).toBe(false)
  expect([(await two.consume('ada')).allowed, made.took()]).toEqual([false, [1]])
  // The other process learns it once.
  for (const keys of [2, 1])
    expect([(await one.consume('ada')).allowed, made.took()]).toEqual([false, [keys]])
})

it.each(['override', 'grant', 'block'] as const)(
  '%s of a client without a state, or with one that has ended, applies',
  async (kind) => {
    const made = database()
    const [one, two] = [await known(made), await known(made)]
    const change = async (key: string) => {
      if (kind === 'override') await one.override(key, { limit: 9 })
      else if (kind === 'grant') await one.grant(key, 4, { until: made.clock() + 100 * MINUTE })
      else await one.block(key, '100m')
    }
    const limitOf = async (key: string) => {
      const { limit, allowed } = await two.consume(key)
      return kind === 'block' ? (allowed ? 0 : 9) : limit
    }
    await change('new')
    expect(await limitOf('new')).toBe(9)
    await two.consume('ada')
    // The state is still there, since nobody has swept it.
    made.clock.advance(10 * MINUTE)
    await change('ada')
    expect(await limitOf('ada')).toBe(9)
    made.clock.advance(10 * MINUTE)
    made.sweep()
    expect(await limitOf('ada')).toBe(9)
    await one.reset('ada')
    await one.reset('new')
    expect(await limitOf('ada')).toBe(kind === 'block' ? 0 : 9)
  },
)

const CHANGED = [
  { window: '1h' },
  { algorithm: 'token-bucket' },
  { algorithm: 'sliding-log' },
  { window: 'day' },
]

it.each(CHANGED)('a version with %j sees what another one gives, at once', async (options) => {
  const made = database()
  const [before, after] = [await known(made), await known(made, options)]
  for (const each of [before, after]) await each.consume('ada')
  made.took()
  await before.override('ada', { limit: 9 })
  // The state and the record, then the state of the other version.
  expect(made.took()).toEqual([2, 1])
  expect(await after.consume('ada')).toMatchObject({ limit: 9, remaining: 7 })
  await after.override('ada', { limit: 8 })
  expect(await before.consume('ada')).toMatchObject({ limit: 8, remaining: 6 })
  await after.block('ada', '1m')
  expect(await before.consume('ada')).toMatchObject({ allowed: false })
  await before.reset('ada')
  expect(await after.consume('ada')).toMatchObject({ limit: 8, remaining: 7 })
  await after.override('ada', null)
  expect(await before.consume('ada')).toMatchObject({ limit: 5, remaining: 4 })
})

it('a version that nobody knows yet marks its states', async () => {
  const made = database()
  const before = await known(made)
  let release = () => {}
  made.at.documents = new Promise((resolve) => {
    release = resolve
  })
  const after = made.process({ window: '1h' })
  await after.consume('ada')
  await after.consume('ada')
  // What the older version reads next does not have the keyspaces of the new one.
  const overridden = before.override('ada', { limit: 9 })
  await made.settled()
  expect(await after.consume('ada')).toMatchObject({ limit: 9, remaining: 6 })
  release()
  await overridden
  await made.settled()
  expect(await after.consume('ada')).toMatchObject({ limit: 9, remaining: 5 })
  await after.override('ada', null)
  await after.consume('ada')
  made.took()
  expect([(await after.consume('ada')).allowed, made.took()]).toEqual([false, [1]])
})

it('a version that has not been heard of for long marks what lives longer', async () => {
  const made = database()
  const before = await known(made)
  const after = await known(made, { algorithm: 'token-bucket', window: '1h', burst: 50, limit: 1 })
  await after.consume('ada', { cost: 40 })
  await after.consume('ada')
  made.took()
  // Its state lives for 40 hours, and the keyspace is known for a day.
  expect([(await after.consume('ada')).remaining, made.took()]).toEqual([8, [2]])
  made.clock.advance(25 * 60 * MINUTE)
  await before.override('ada', { limit: 1 })
  expect(await after.peek('ada')).toMatchObject({ limit: 1, remaining: 0 })
})

it('a state that has ended says nothing, though nobody has swept it', async () => {
  const made = database()
  const [before, after] = [await known(made), await known(made, { window: '1h' })]
  await after.consume('ada')
  // The keyspace of the other version is forgotten.
  made.clock.advance(25 * 60 * MINUTE)
  await before.override('ada', { limit: 9 })
  expect(await after.consume('ada')).toMatchObject({ limit: 9, remaining: 8 })
})

it('a store that has lost the keyspaces costs a client what it is given for some minutes, and not longer', async () => {
  const made = database()
  const [before, after] = [await known(made), await known(made, { window: '1h' })]
  await after.consume('ada')
  for (const key of made.rows.keys()) if (key.includes('{#}')) made.rows.delete(key)
  await before.override('ada', { limit: 0 })
  expect((await after.consume('ada')).limit).toBe(5)
  made.clock.advance(10 * MINUTE)
  await after.peek('ada')
  made.took()
  // Nothing that is refused marks a state.
  for (let i = 0; i < 2; i += 1)
    expect([await after.consume('ada'), made.took()]).toMatchObject([{ limit: 0 }, [2]])
})

it('a decision between the record and the marks of other versions is none that stays', async () => {
  const made = database()
  const [before, after] = [await known(made), await known(made, { window: '1h' })]
  await after.consume('ada')
  const between: Promise<unknown>[] = []
  made.at.before = () => {
    made.at.before = () => {}
    between.push(Promise.resolve(after.consume('ada')))
  }
  await before.override('ada', { limit: 9 })
  await Promise.all(between)
  expect(await after.consume('ada')).toMatchObject({ limit: 9 })
})

it('a clock that steps back makes a record apply again, and one that is gone does not come back', async () => {
  const made = database()
  const one = await known(made)
  await one.override('ada', { limit: 9, until: made.clock() + 1000 })
  made.clock.advance(1000)
  expect((await one.peek('ada')).limit).toBe(5)
  made.clock.advance(-1)
  expect((await one.consume('ada')).limit).toBe(9)
  made.clock.advance(1)
  expect((await one.consume('ada')).limit).toBe(5)
  made.clock.advance(-1)
  expect((await one.consume('ada')).limit).toBe(5)
})

it('a state of before, without its end, is read with the record', async () => {
  const made = database()
  const one = await known(made)
  await one.consume('ada')
  const key = [...made.rows.keys()].find(
    (each) => each.endsWith('}:sliding-window:60000:default') && each.includes('ada'),
  ) as string
  const { state, until } = made.rows.get(key)!
  await one.override('bob', { limit: 9 })
  made.rows.set(RECORD, made.rows.get('sluice:{bob}:own:default')!)
  made.rows.set(key, { state: state.slice(0, -8), until })
  expect(await one.consume('ada')).toMatchObject({ limit: 9, remaining: 7 })
})
