import { describe, expect, test } from '@jest/globals'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { localShareOf } from '../stores/resilient/local-share.ts'
import { manualClock } from '../testing/index.ts'
import { withVerbs } from '../testing/ledger-verbs.ts'
import { createLimiter } from './create-limiter.ts'
import { Policy } from './policy.ts'

const at = (text: string) => new Date(text).getTime()

function policy(options: object): Policy {
  return new Policy('', { limit: 10, window: 'month', ...options } as never)
}

/** When the first window ends that a request at noon of 21 November 2026 is charged in. */
function endOf(options: object, from = '2026-11-21T12:00:00Z'): string {
  const clock = manualClock(at(from))
  const store = memoryStore({ clock })
  const limiter = createLimiter({ limit: 10, store, ...options } as never)
  const { resetMs } = limiter.consume('ada') as { resetMs: number }
  store.close()
  return new Date(clock() + resetMs).toJSON()
}

describe('a window of the calendar ends', () => {
  test.each<[object, string]>([
    [{ window: 'day' }, '2026-11-22T00:00:00.000Z'],
    [{ window: 'day', timeZone: 'Asia/Kathmandu' }, '2026-11-21T18:15:00.000Z'],
    [{ window: 'week' }, '2026-11-23T00:00:00.000Z'],
    [{ window: 'week', anchor: '2020-01-01' }, '2026-11-25T00:00:00.000Z'],
    [{ window: 'month' }, '2026-12-01T00:00:00.000Z'],
    [{ window: 'month', timeZone: 'America/New_York' }, '2026-12-01T05:00:00.000Z'],
    [{ window: 'month', anchor: 31 }, '2026-11-30T00:00:00.000Z'],
    [{ window: 'month', anchor: '2024-02-29' }, '2026-11-29T00:00:00.000Z'],
    [
      { window: 'month', anchor: new Date('2026-01-14T23:30Z'), timeZone: 'Europe/Berlin' },
      '2026-12-14T23:00:00.000Z',
    ],
  ])('%j: %s', (options, end) => {
    expect(endOf(options)).toBe(end)
  })
})

test.each([15, () => 15])('a week begins on no day of the month: %p', (anchor) => {
  const weekly = () => policy({ window: 'week', anchor }).limitFor(10, 15)
  expect(weekly).toThrow(expect.objectContaining({ option: 'anchor' }))
})

describe('an anchor that is a function', () => {
  const monthly = policy({ anchor: () => 1 })

  test('gives each client windows of its own, in one keyspace', () => {
    const [first, other] = [monthly.limitFor(10, 15), monthly.limitFor(10, 31)]
    expect(other).not.toBe(first)
    expect(monthly.limitFor(10, '2026-01-15')).toBe(first)
    expect(monthly.keyspace(first).name).toBe(monthly.keyspace(other).name)
  })

  test('may give nothing: the 1st', () => {
    expect(monthly.limitFor(10, undefined)).toBe(monthly.limitFor(10, 1))
  })

  test.each([0, 32, 1.5, '15', '2026-13-01', null, new Date(Number.NaN)])(
    'gives %p: no',
    (anchor) => {
      expect(() => monthly.limitFor(10, anchor)).toThrow(
        expect.objectContaining({ option: 'anchor' }),
      )
    },
  )

  test('a client that changes it gets no new quota: what it used counts until that window ends', () => {
    const clock = manualClock(at('2026-11-10T12:00:00Z'))
    const store = memoryStore({ clock })
    const three = policy({ limit: 3, anchor: () => 1 })
    const limits = [5, 20, 1, 8].map((day) => three.limitFor(3, day))
    const [early] = limits as [(typeof limits)[0]]
    const keyspace = { name: three.keyspace(early).name, algorithm: early.algorithm }
    const ledger = withVerbs(store.open([keyspace], 'anchors'))
    const remaining = (limit: typeof early, cost: number) =>
      ledger.consume([{ key: 'ada', limit, cost }]).outcomes[0]?.remaining
    expect(remaining(early, 2)).toBe(1)
    for (const day of ['11-10', '11-20', '12-01', '12-04']) {
      clock.set(at(`2026-${day}T12:00:00Z`))
      expect(limits.map((limit) => remaining(limit, 0))).toEqual([1, 1, 1, 1])
    }
    clock.set(at('2026-12-05T00:00:00Z'))
    expect(limits.map((limit) => remaining(limit, 0))).toEqual([3, 3, 3, 3])
    store.close()
  })
})

describe('a window that is a function', () => {
  const varying = (options = {}) => policy({ window: () => '1m', ...options })
  const limitOf = (each: Policy, window: unknown) => each.limitFor(undefined, undefined, window)
  const spaceOf = (each: Policy, window: unknown) => each.keyspace(limitOf(each, window)).name

  test('has a keyspace for each length, however it is written', () => {
    const [each, fixed] = [varying(), policy({ window: '1h' })]
    expect(limitOf(each, '1m')).toBe(limitOf(each, 60_000))
    expect(limitOf(each, '1h').windowMs).toBe(3_600_000)
    expect(spaceOf(each, '1h')).not.toBe(spaceOf(each, '1m'))
    expect(spaceOf(each, '1h')).toBe(fixed.keyspace(fixed.limitFor()).name)
  })

  test('and the limit too: each length has one keyspace for all limits', () => {
    const each = varying({ limit: () => 1 })
    const [few, many, later] = [
      each.limitFor(1, undefined, '1m'),
      each.limitFor(1000, undefined, '1m'),
      each.limitFor(1000, undefined, '1h'),
    ]
    expect(each.keyspace(few).name).toBe(each.keyspace(many).name)
    expect(each.keyspace(later).name).not.toBe(each.keyspace(many).name)
    expect([few.units, many.units, later.windowMs]).toEqual([1, 1000, 3_600_000])
  })

  test('the 17th length is an error; the 16 before it stay', () => {
    const each = varying({ algorithm: 'token-bucket', limit: () => 1 })
    const spaces = new Set<string>()
    for (let i = 1; i <= 1000; i += 1) {
      try {
        spaces.add(each.keyspace(each.limitFor(5, undefined, i * 1000)).name)
      } catch (error) {
        expect(i).toBeGreaterThan(16)
        expect(error).toMatchObject({ code: 'SLUICE_OPTION_RANGE', option: 'window' })
      }
    }
    expect(spaces.size).toBe(16)
    for (let i = 1; i <= 16; i += 1) each.limitFor(7, undefined, `${i}s`)
  })

  test.each([0, -1, 1.5, '60000', '11y', null, undefined, Number.NaN])('gives %p: no', (window) => {
    const each = varying()
    expect(() => limitOf(each, window)).toThrow(expect.objectContaining({ option: 'window' }))
    expect(limitOf(each, '1m').windowMs).toBe(60_000)
  })

  test.each(['day', 'week', 'month'])('gives %p: the message says what to do', (window) => {
    expect(() => limitOf(varying(), window)).toThrow(/a duration, since the window depends/)
  })

  test.each([{ timeZone: 'UTC' }, { anchor: 1 }])('has no calendar: %j', (options) => {
    expect(() => varying(options)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_CONFLICT' }),
    )
  })

  test('is for adapters only', () => {
    expect(() => createLimiter({ limit: 1, window: (() => '1m') as never })).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: 'window' }),
    )
  })

  test('a share is one of its own length', () => {
    const each = varying({ limit: 10 })
    const share = localShareOf(limitOf(each, '1h'), 0.5)
    expect([share.units, share.windowMs]).toEqual([5, 3_600_000])
  })
})

test('what is given for an option that is no function has no effect', () => {
  const each = policy({ limit: 10, window: '1m' })
  expect(each.limitFor(99, 5, '1h')).toBe(each.limitFor())
})

test('two calendars share no quota', () => {
  const space = (options: object) => {
    const made = policy(options)
    return made.keyspace(made.anyLimit()).name
  }
  const spaces = [
    {},
    { anchor: 2 },
    { timeZone: 'Europe/Berlin' },
    { window: 'week' },
    { window: '31d', algorithm: 'fixed-window' },
    { anchor: () => 1 },
  ].map(space)
  expect(new Set(spaces).size).toBe(spaces.length)
  expect(space({ timeZone: 'europe/berlin' })).toBe(spaces[2])
  expect(space({ anchor: '2026-05-01' })).toBe(spaces[0])
})
