// What somebody who writes the document, opens limiters or moves clocks can do to live policies.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import nodeTimers from 'node:timers'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { PolicyChangeEvent } from '../../events.ts'
import { documentKey } from '../../stores/documents/document.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { Documents, Store } from '../../stores/store.ts'
import { manualClock } from '../../testing/index.ts'
import { reset } from '../../testing/reset.ts'
import { createLimiter } from '../create-limiter.ts'
import type { Limiter } from '../limiter.ts'

const NOON = 1_800_000_000_000
const API = { name: 'api', limit: 5, window: '1h', algorithm: 'fixed-window', live: true } as const
const NO_POLICY = { limit: undefined, window: undefined, algorithm: undefined, live: undefined }
const HOUR = 3_600_000

let clock: ReturnType<typeof manualClock>
let ms: number
let runs = 0
const warned: string[] = []
const limiters: Limiter[] = []

beforeEach(() => {
  clock = manualClock(NOON)
  runs += 1
  // Warnings are few in an hour.
  ms = runs * 2 * HOUR
  jest.spyOn(performance, 'now').mockImplementation(() => ms)
  warned.length = 0
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((message: string) => warned.push(message)) as never)
})
afterEach(() => {
  for (const limiter of limiters.splice(0)) limiter.close()
  jest.restoreAllMocks()
})

/** The memory store behind promises. `reads`: the versions that were known when a process asked for the settings. */
function remoteStore() {
  const memory = memoryStore({ clock })
  const reads: string[] = []
  const store: Store<'async'> = {
    mode: 'async',
    documents: {
      async read(prefix, name, known) {
        if (name === 'policies') reads.push(known)
        const { text = '', at } = memory.documents.read(prefix, name, known)
        return { text: text.slice(0, 16) === known ? undefined : text, at }
      },
      replace: async (...given) => memory.documents.replace(...given),
    } as Documents<'async'>,
    open(keyspaces, prefix) {
      const ledger = memory.open(keyspaces, prefix)
      return {
        decide: async (...asked) => structuredClone(ledger.decide(...asked)),
        change: async (...given) => ledger.change(...given),
      }
    },
    close: () => memory.close(),
  }
  return { store, reads, texts: memory.documents }
}

type Remote = ReturnType<typeof remoteStore>

function limiterOn(store: Store, options: object = {}): Limiter<'async'> {
  const limiter = createLimiter({ store, deadline: '1m', ...API, ...options } as never)
  limiters.push(limiter as Limiter)
  return limiter as unknown as Limiter<'async'>
}

let versions = 0

/** What a document says that nobody has checked. */
function write({ texts }: Remote, policies: unknown): void {
  const { text = '' } = texts.read('sluice', 'policies', '')
  versions += 1
  const version = `${versions}`.padStart(16, '0')
  const json =
    typeof policies === 'string' ? policies : JSON.stringify({ form: 1, policies, history: [] })
  texts.replace('sluice', 'policies', text.slice(0, 16), `${version}\n${json}`, 1e9)
}

/** What is asked for in the background is there after some turns. */
async function turns(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Timers that run out by the time that a test sets. */
function manualTimers() {
  const due = new Map<object, { readonly at: number; readonly act: () => void }>()
  const { setTimeout, clearTimeout } = nodeTimers
  jest.spyOn(nodeTimers, 'setTimeout').mockImplementation(((act: () => void, after: number) => {
    // Limiters and clients of earlier test files, whose functions are of another realm, have the process's timers.
    if (!(act instanceof Function)) return setTimeout(act, after)
    const timer = { unref: () => timer }
    due.set(timer, { at: ms + after, act })
    return timer
  }) as never)
  jest.spyOn(nodeTimers, 'clearTimeout').mockImplementation(((timer: NodeJS.Timeout) => {
    if (!due.delete(timer)) clearTimeout(timer)
  }) as never)
  return {
    advance() {
      for (const [timer, { at, act }] of due) {
        if (at > ms) continue
        due.delete(timer)
        act()
      }
    },
    /** When each is due, ms. */
    get dueAt() {
      return [...due.values()].map(({ at }) => at)
    },
  }
}

/** Two seconds later, a request makes the process ask. */
async function later(limiter: Limiter<'async'>, after = 2000): Promise<number | undefined> {
  ms += after
  clock.advance(after)
  await limiter.peek('ada')
  await turns()
  return (await limiter.peek('ada')).limit
}

describe('a document for two policies, one of which may have 500', () => {
  function twoPolicies() {
    const remote = remoteStore()
    const api = limiterOn(remote.store, { live: { limit: { max: 500 } } })
    const other = limiterOn(remote.store, { name: 'other', prefix: 'sluice', window: '2h' })
    const limits = async (policies: unknown) => {
      write(remote, policies)
      return [await later(api), await later(other)]
    }
    return { api, limits }
  }
  const layers = (limit: unknown) => [{ set: { limit } }]

  it.each<[string, unknown]>([
    ['no JSON', '{'],
    ['another form', JSON.stringify({ form: 2, policies: {}, history: [] })],
    ['no layers', { other: layers(3), api: { limit: 3 } }],
    ['a window', { other: layers(3), api: [{ set: { limit: 3, window: 1 } }] }],
    ['a limit beyond all', { other: layers(3), api: layers(1e300) }],
    ['a negative limit', { other: layers(3), api: layers(-1) }],
    ['text', { other: layers(3), api: layers('3') }],
    ['an end that is none', { other: layers(3), api: [{ set: { limit: 3 }, until: 'never' }] }],
    ['too long', JSON.stringify({ form: 1, policies: {}, history: [], filler: 'x'.repeat(1e6) })],
  ])('is ignored as a whole if it is wrong: %s', async (_, policies) => {
    const { api, limits } = twoPolicies()
    await api.policies.set('api', { limit: 7 })
    expect(await limits(policies)).toEqual([7, 5])
    expect(warned).toHaveLength(1)
  })

  it('leaves a policy as it was whose bounds it leaves: another version of the application may have others', async () => {
    const { api, limits } = twoPolicies()
    await api.policies.set('api', { limit: 7 })
    expect(await limits({ api: layers(501), other: layers(3) })).toEqual([7, 3])
    expect(warned).toEqual([expect.stringMatching(/'api'.* a limit of 0 to 500.* 501/)])
    expect(await limits({ api: layers(502), other: layers(2) })).toEqual([7, 2])
    expect(await limits({ api: layers(500), other: layers(1) })).toEqual([500, 1])
    expect(await limits({})).toEqual([5, 5])
  })

  it.each([
    ['burst', { limit: 3, burst: 9 }],
    ['maxDelay', { maxDelay: 5 }],
    ['concurrent', { concurrent: 3 }],
  ])(
    'leaves a policy as it was whose algorithm has no %s: that of another version may',
    async (name, set) => {
      const { api, limits } = twoPolicies()
      await api.policies.set('api', { limit: 7 })
      expect(await limits({ api: [{ set }], other: layers(3) })).toEqual([7, 3])
      expect(warned).toEqual([expect.stringMatching(new RegExp(`'api'.* has no ${name}`))])
      expect(await limits({ api: layers(4), other: layers(2) })).toEqual([4, 2])
    },
  )

  it('is ignored as a whole also if no version can have a limit: its algorithm has no such', async () => {
    const remote = remoteStore()
    const algorithm = 'sliding-window'
    const api = limiterOn(remote.store, { algorithm, live: { limit: { max: 500 } } })
    const other = limiterOn(remote.store, { name: 'other', prefix: 'sluice', window: '2h' })
    write(remote, { api: layers(1e12 + 1), other: layers(3) })
    expect([await later(api), await later(other)]).toEqual([5, 5])
    expect(warned).toHaveLength(1)
  })

  it('leaves it as it was also in a limiter that comes later', async () => {
    const remote = remoteStore()
    const wide = limiterOn(remote.store)
    await wide.policies.set('api', { limit: 501 })
    const narrow = limiterOn(remote.store, { live: { limit: { max: 500 } } })
    expect([await later(wide), await later(narrow)]).toEqual([501, 5])
    expect(warned).toContainEqual(expect.stringContaining('sets 501'))
  })
})

describe('a document', () => {
  it('decides whether a policy refuses, whatever its code says of that', async () => {
    for (const code of [{ dryRun: true }, { enforce: 0.5 }, {}]) {
      const remote = remoteStore()
      const policies = [{ name: 'new', limit: 0, window: '1h', live: true, ...code }]
      const limiter = limiterOn(remote.store, { ...NO_POLICY, policies })
      for (const settings of [{ dryRun: true }, { enforce: 1 }, { dryRun: false }]) {
        await limiter.policies.set('api/new', settings)
        const refuses = !('dryRun' in settings && settings.dryRun)
        expect([code, settings, !(await limiter.peek('ada')).allowed]).toEqual([
          code,
          settings,
          refuses,
        ])
      }
    }
  })

  it.each(['constructor', 'toString', 'valueOf'])('may have a policy named %s', async (name) => {
    const remote = remoteStore()
    const limiter = limiterOn(remote.store, { name })
    const other = limiterOn(remote.store, { window: '2h' })
    await other.policies.set('api', { limit: 9 })
    await turns()
    expect((await other.peek('ada')).limit).toBe(9)
    expect((await limiter.peek('ada')).limit).toBe(5)
    await limiter.policies.set(name, { limit: 7 })
    expect((await limiter.peek('ada')).limit).toBe(7)
    expect(await limiter.policies.list()).toMatchObject([{ limit: 9 }, { limit: 7 }])
    await limiter.policies.rollback()
    expect((await limiter.peek('ada')).limit).toBe(5)
    expect(warned).toEqual([])
  })

  it('with what nobody has, or a limit beyond numbers, switches no limit off', async () => {
    const remote = remoteStore()
    const limiter = limiterOn(remote.store)
    const wrong: unknown[] = [
      { nobody: [{ set: { limit: 1e300 } }] },
      { api: [{ set: { limit: 1e300 } }] },
      { api: [{ set: { limit: -1 } }] },
      { api: [{ set: { limit: null } }] },
      { api: [{ set: { limit: '9' } }] },
      { api: [{ set: { enforce: -1 } }] },
      { api: [{ set: { dryRun: 'yes' } }] },
      { api: [{ set: { alertAt: [2e300] } }] },
      { api: [{ set: { limit: 9 }, until: 'soon' }] },
      { api: [{ set: { limit: 9 }, until: NOON - 1 }] },
      { api: { set: { limit: 9 } } },
      { api: null },
      [],
      'null',
      '[]',
      '{',
      '',
    ]
    for (const policies of wrong) {
      write(remote, policies)
      expect([policies, await later(limiter)]).toEqual([policies, 5])
      for (let i = 0; i < 6; i += 1) await limiter.consume(`${versions}`)
      expect((await limiter.consume(`${versions}`)).allowed).toBe(false)
    }
    write(remote, { api: [{ set: { limit: 9 } }] })
    expect(await later(limiter)).toBe(9)
  })

  it('has the changes of all who change it at the same time, those of one process in their order', async () => {
    const remote = remoteStore()
    const [one, other] = [remote.store, { ...remote.store }].map((store) => limiterOn(store))
    const { documents } = remote.store as { documents: Documents<'async'> }
    const read = documents.read.bind(documents)
    let reads = 0
    documents.read = async (...asked) => {
      const found = await read(...asked)
      if (asked[1] === 'policies') reads += 1
      // What the first one reads is old when it gets it.
      if (reads === 1) await turns()
      return found
    }
    const changes = [7, 8, 9].map((limit) => one?.policies.set('api', { limit }, { by: 'one' }))
    await Promise.all([...changes, other?.policies.set('api', { dryRun: true }, { by: 'other' })])
    const history = (await other?.policies.history())?.toReversed() ?? []
    expect(history).toHaveLength(4)
    const ofOne = history.filter(({ by }) => by === 'one')
    expect(ofOne.map(({ after }) => after.api?.[0]?.set.limit)).toEqual([7, 8, 9])
    expect(await one?.policies.list()).toMatchObject([{ limit: 9, enforced: 0 }])
  })

  it('that is wrong in ever new ways makes few warnings, and short ones', async () => {
    const remote = remoteStore()
    const limiter = limiterOn(remote.store)
    for (let i = 0; i < 300; i += 1) {
      const long = `${i}\n\u001b[31m${'x'.repeat(10_000)}`
      if (i % 3 === 0) write(remote, JSON.stringify({ form: long, policies: {}, history: [] }))
      else write(remote, { [i % 3 === 1 ? long : 'api']: [{ set: { [long]: 1 } }] })
      expect(await later(limiter)).toBe(5)
    }
    expect(warned.length).toBeGreaterThan(0)
    expect(warned.length).toBeLessThanOrEqual(20)
    for (const each of warned) {
      expect(each.length).toBeLessThan(1000)
      expect(each).not.toContain('\u001b')
    }
  })

  it('that is changed a hundred times a second stays short, and is asked for every two seconds', async () => {
    const remote = remoteStore()
    const writer = limiterOn(remote.store, { window: '2h' })
    const names = Array.from({ length: 32 }, (_, i) => `n${i}`.padEnd(15, 'n'))
    limiterOn(remote.store, {
      ...NO_POLICY,
      policies: names.map((name) => ({ ...API, name })),
    })
    for (let i = 0; i < 100; i += 1) {
      const all = names.map((name) => [`api/${name}`, { limit: i + 1, alertAt: [0.5] }])
      await writer.policies.apply(Object.fromEntries(all), { by: 'é'.repeat(1000) })
      const { text = '' } = remote.texts.read('sluice', 'policies', '')
      expect(text.length).toBeLessThan(220_000)
    }
    expect((await writer.policies.history())[0]?.number).toBe(100)
    expect((await later(writer)) as number).toBe(5)
  })
})

describe('a process', () => {
  it('asks at most once in two seconds, with requests, limiters that come and timers together', async () => {
    const timers = manualTimers()
    const remote = remoteStore()
    const limiter = limiterOn(remote.store)
    await turns()
    remote.reads.length = 0
    for (let i = 0; i < 300; i += 1) {
      ms += 100
      timers.advance()
      await limiter.peek('ada')
      if (i % 10 === 0) limiterOn(remote.store, { window: '2h' })
      await turns()
    }
    // In 30 s.
    expect(remote.reads.length).toBeGreaterThanOrEqual(14)
    expect(remote.reads.length).toBeLessThanOrEqual(16)
  })

  it('asks for the settings at once also while another document is awaited', async () => {
    const remote = remoteStore()
    const documents = remote.store.documents as Documents<'async'>
    const { read } = documents
    documents.read = (prefix, name, known) =>
      name === 'networks' ? new Promise(() => {}) : read(prefix, name, known)
    await limiterOn(remote.store, { live: undefined }).consume('ada')
    await turns()
    write(remote, { api: [{ set: { limit: 9 } }] })
    const limiter = limiterOn(remote.store, { window: '2h' })
    await turns()
    expect((await limiter.peek('ada')).limit).toBe(9)
  })

  it('without requests ends settings of a memory store too, one after the other', async () => {
    const timers = manualTimers()
    const limiter = limiterOn(memoryStore({ clock }))
    await limiter.policies.set('api', { limit: 8 }, { for: '20s' })
    await limiter.policies.set('api', { limit: 9 }, { for: '10s' })
    const limits: unknown[] = []
    const hear = (event: unknown) => void limits.push((event as PolicyChangeEvent).limit)
    subscribe('sluice:policy', hear)
    for (let seconds = 0; seconds < 30; seconds += 1) {
      ms += 1000
      clock.advance(1000)
      timers.advance()
      await turns()
    }
    unsubscribe('sluice:policy', hear)
    expect(limits).toEqual([8, 5])
  })

  it('without requests asks every two seconds, as long as a limiter is open that needs it', async () => {
    const timers = manualTimers()
    const remote = remoteStore()
    const asked = async () => {
      remote.reads.length = 0
      for (let i = 0; i < 100; i += 1) {
        ms += 100
        timers.advance()
        await turns()
      }
      return remote.reads.length
    }
    const one = limiterOn(remote.store)
    const other = limiterOn(remote.store, { window: '2h' })
    await turns()
    expect(await asked()).toBe(5)
    // Closed twice, it is closed once.
    other.close()
    other.close()
    expect(await asked()).toBe(5)
    one.close()
    expect(await asked()).toBe(0)
  })

  it('that opens and closes thousands of limiters keeps none of them, and no timer', async () => {
    const remote = remoteStore()
    const timers = manualTimers()
    for (let i = 0; i < 3000; i += 1) {
      const limiter = limiterOn(i % 2 === 0 ? remote.store : memoryStore({ clock }))
      if (i % 3 === 0) await turns()
      limiter.close()
      limiters.length = 0
    }
    await turns()
    expect(timers.dueAt).toEqual([])
    remote.reads.length = 0
    ms += HOUR
    timers.advance()
    await turns()
    expect(remote.reads).toEqual([])
  })

  it('that has not read for an hour decides by what it knew, and learns', async () => {
    const remote = remoteStore()
    const limiter = limiterOn(remote.store)
    await limiter.policies.set('api', { limit: 7 })
    write(remote, { api: [{ set: { limit: 9 } }] })
    ms += HOUR
    clock.advance(HOUR)
    expect((await limiter.peek('ada')).limit).toBe(7)
    await turns()
    expect((await limiter.peek('ada')).limit).toBe(9)
  })

  it('whose clock is three days off ends settings when the store says so', async () => {
    for (const off of [-72 * HOUR, 72 * HOUR]) {
      const remote = remoteStore()
      jest.spyOn(Date, 'now').mockReturnValue(NOON + off)
      const limiter = limiterOn(remote.store)
      await limiter.policies.set('api', { limit: 9 }, { for: '1h' })
      expect(await later(limiter, HOUR - 1)).toBe(9)
      expect(await later(limiter, 2000)).toBe(5)
    }
  })

  it('that gets no answer any more ends settings nevertheless', async () => {
    const timers = manualTimers()
    const remote = remoteStore()
    const limiter = limiterOn(remote.store)
    await limiter.policies.set('api', { limit: 9 }, { for: '1s' })
    const { limit } = await limiter.peek('ada')
    remote.store.documents!.read = () => new Promise(() => {})
    const ended: number[] = []
    for (let after = 100; after <= 5000; after += 100) {
      ms += 100
      timers.advance()
      await turns()
      if ((await limiter.peek('ada')).limit === 5) ended.push(after)
    }
    expect(limit).toBe(9)
    expect(ended[0]).toBeGreaterThanOrEqual(1000)
    expect(ended[0]).toBeLessThanOrEqual(2000)
  })

  it('ends settings also if the clock of the store steps back, and does not let them hold again', async () => {
    const remote = remoteStore()
    const limiter = limiterOn(remote.store)
    await limiter.policies.set('api', { limit: 9 }, { for: '1h' })
    clock.advance(-72 * HOUR)
    expect(await later(limiter, HOUR - 2001)).toBe(9)
    expect(await later(limiter, 2002)).toBe(5)
    expect(await later(limiter, 2000)).toBe(5)
    // Another change writes them again, as the clock of the store has them.
    await limiter.policies.set('api', { alertAt: [0.5] })
    expect((await limiter.peek('ada')).limit).toBe(5)
    await limiter.policies.set('api', { limit: 11 }, { for: '1h' })
    expect((await limiter.peek('ada')).limit).toBe(11)
    expect(await later(limiter, HOUR + 1)).toBe(5)
  })
})

it('no client has a key that is a document', () => {
  expect(documentKey('sluice', 'policies')).toBe('sluice:{#}:policies')
})

describe('a document that the store has lost, as by FLUSHALL', () => {
  const textOf = ({ texts }: Remote) => texts.read('sluice', 'policies', '').text ?? ''
  const lose = (remote: Remote) =>
    remote.texts.replace('sluice', 'policies', textOf(remote).slice(0, 16), '', 1)

  it('stays in force, so that a dry run refuses nobody, and is written again', async () => {
    const remote = remoteStore()
    const limiter = limiterOn(remote.store)
    await limiter.policies.set('api', { limit: 1, dryRun: true }, { by: 'ada' })
    const written = textOf(remote)
    lose(remote)
    await later(limiter)
    for (let i = 0; i < 9; i += 1)
      expect(await limiter.consume('ada')).toMatchObject({ allowed: true })
    expect(textOf(remote)).toBe(written)
    expect(warned).toEqual([expect.stringContaining('The store has lost the document')])
    expect(await limiter.policies.history()).toMatchObject([{ number: 1, by: 'ada' }])
    await later(limiter)
    await limiter.policies.unset('api')
    expect(await later(limiter)).toBe(5)
  })

  it('is written again later if the store does not take it, and not over a newer one', async () => {
    const remote = remoteStore()
    const limiter = limiterOn(remote.store)
    await limiter.policies.set('api', { limit: 2 })
    const { documents } = remote.store as { documents: { replace: unknown } }
    const { replace } = documents
    documents.replace = () => Promise.reject(new Error('no room'))
    lose(remote)
    expect(await later(limiter)).toBe(2)
    expect(textOf(remote)).toBe('')
    documents.replace = replace
    expect(await later(limiter)).toBe(2)
    expect(textOf(remote)).not.toBe('')
    documents.replace = () => Promise.reject(new Error('no room'))
    lose(remote)
    await later(limiter)
    documents.replace = replace
    write(remote, { api: [{ set: { limit: 3 } }] })
    expect(await later(limiter)).toBe(3)
  })

  it('is forgotten by reset() between tests', async () => {
    const remote = remoteStore()
    const limiter = limiterOn(remote.store)
    await limiter.policies.set('api', { limit: 2 })
    lose(remote)
    reset()
    expect(await later(limiter)).toBe(5)
    expect(textOf(remote)).toBe('')
  })
})
