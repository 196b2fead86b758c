import { describe, expect, test } from '@jest/globals'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { manualClock } from '../testing/index.ts'
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

describe('an anchor that is a function', () => {
  const monthly = policy({ anchor: () => 1 })

  test('gives each client windows of its own, in one keyspace', () => {
    const [first, other] = [monthly.limitFor(10, 15), monthly.limitFor(10, 31)]
    expect(other).not.toBe(first)
    expect(monthly.limitFor(10, '2026-01-15')).toBe(first)
    expect(monthly.space(first)).toBe(monthly.space(other))
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
    const limits = [5, 20, 1, 8].map((day) => monthly.limitFor(3, day))
    const [early] = limits as [(typeof limits)[0]]
    const ledger = store.open(
      [{ name: monthly.space(early), algorithm: early.algorithm }],
      'anchors',
    )
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

test('two calendars share no quota', () => {
  const space = (options: object) => {
    const made = policy(options)
    return made.space(made.typicalLimit)
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
