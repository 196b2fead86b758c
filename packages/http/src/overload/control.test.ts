import { describe, expect, test } from '@jest/globals'
import { type Control, type Ended, firstControl, type Sample, step } from './control.ts'

const QUIET: Sample = {
  kinds: [],
  windowMs: 100,
  mostActive: 0,
  isLimited: false,
  oldestAt: Infinity,
  delayMs: 0,
  heap: 0.1,
}

/** Requests that took so long each, ms. They began while so many were in progress. */
const endedOf = (times: readonly number[], active = 20) =>
  times.map((ms, at): Ended => ({ at, ms, active }))
/** So many requests of a kind that took so long each. */
const took = (ms: number, kind = 'a', requests = 20, active = 20) => [
  { kind, ended: endedOf(Array(requests).fill(ms), active), late: new Set<string>() },
]
/** What is known of a kind. */
const of = (ms: number) => ({ ms, first: [] })

function played(samples: readonly Partial<Sample>[], from: Control = firstControl): Control {
  return samples.reduce<Control>(
    (state, sample, i) => step(state, { ...QUIET, ...sample }, i * 100),
    from,
  )
}

const KNOWN: Control = {
  ...firstControl,
  usual: new Map([['a', of(10)]]),
  latencyMs: 10,
}
const many = (sample: Partial<Sample>, length: number) => Array.from({ length }, () => sample)

test('the same state and samples make the same limit, and nothing is changed', () => {
  const samples = [{ kinds: took(10) }, { kinds: took(30), isLimited: true }]
  expect(played(samples)).toEqual(played(samples))
  expect(firstControl.usual.size).toBe(0)
})

describe('the limit', () => {
  test('doubles while requests find no place and take no longer than usual', () => {
    expect(played([{ kinds: took(11), isLimited: true }], KNOWN).limit).toBe(40)
  })

  test('stays while few are in progress', () => {
    expect(played(many({ kinds: took(50), mostActive: 5 }, 20), KNOWN).limit).toBe(20)
  })

  test('falls to what is served of those that were in progress when they began', () => {
    const slow = (active: number) =>
      played(many({ kinds: took(40, 'a', 20, active), isLimited: true }, 8), KNOWN).limit
    // A quarter of them, a third more, and the root of that: some wait, so that nothing idles.
    expect(slow(20)).toBeCloseTo(9.6, 0)
    expect(slow(12)).toBeLessThan(slow(20))
    expect(slow(1)).toBeGreaterThanOrEqual(1)
  })

  test('of fast and slow kinds together is not that of a crowd when there are more slow ones', () => {
    const usual = new Map([
      ['fast', of(1)],
      ['slow', of(500)],
    ])
    const kinds = [...took(500, 'slow'), ...took(1, 'fast')]
    expect(played([{ kinds, isLimited: true }], { ...KNOWN, usual }).limit).toBe(40)
  })

  test('never exceeds its bound', () => {
    expect(played(many({ kinds: took(10, 'a', 20, 9000), isLimited: true }, 5), KNOWN).limit).toBe(
      10_000,
    )
  })
})

describe('what is usual', () => {
  test('is not learnt from a crowd', () => {
    const { usual } = played(many({ kinds: took(30), isLimited: true }, 6), KNOWN)
    expect(usual.get('a')?.ms).toBe(10)
  })

  test.each([
    ['by a tenth of the difference, without a queue', { mean: 20, requests: 10 }, 11],
    ['no faster by more requests', { mean: 20, requests: 200 }, 11],
    ['less by fewer', { mean: 20, requests: 1 }, 10.1],
    ['not in a crowd', { mean: 4, requests: 10, isLimited: true }, 10],
  ] as [string, { mean: number; requests: number; isLimited?: boolean }, number][])(
    'is learnt %s',
    (_, { mean, requests, ...sample }, usual) => {
      const kinds = took(mean, 'a', requests)
      expect(played([{ kinds, ...sample }], KNOWN).usual.get('a')?.ms).toBeCloseTo(usual)
    },
  )

  test('is what the first ten took, when none that began before them is in progress', () => {
    const usualAfter = (...samples: Partial<Sample>[]) => played(samples).usual.get('a')?.ms
    expect(usualAfter({ kinds: took(30, 'a', 9) })).toBeUndefined()
    const later = {
      kinds: [{ kind: 'a', ended: [{ at: 99, ms: 900, active: 20 }], late: new Set<string>() }],
      oldestAt: 8,
    }
    const first = { kinds: took(30, 'a', 9), oldestAt: 8 }
    expect(usualAfter(first, later, { kinds: took(30, 'a', 1), oldestAt: 8 })).toBeUndefined()
    expect(usualAfter(first, later, { kinds: took(30, 'a', 1) })).toBe(30)
  })

  test('is longer if half as many in progress still take as long: they do not wait for one another', () => {
    const slow = (ms: number, active: number) => ({
      kinds: took(ms, 'a', 20, active),
      isLimited: true,
    })
    expect(played([slow(40, 20), slow(40, 11)], KNOWN).usual.get('a')?.ms).toBe(10)
    expect(played([slow(40, 20), slow(20, 10)], KNOWN).usual.get('a')?.ms).toBe(10)
    expect(played([slow(40, 20), slow(36, 10)], KNOWN).usual.get('a')?.ms).toBeCloseTo(36)
  })
})

describe('the event loop', () => {
  test('late twice lowers the limit, by how late it is', () => {
    const late = { delayMs: 125 }
    expect(played([late], KNOWN)).toMatchObject({ limit: 20, signal: 'latency' })
    expect(played([late, late], KNOWN)).toMatchObject({ limit: 16, signal: 'event-loop-delay' })
    expect(played(many({ delayMs: 900 }, 2), KNOWN)).toMatchObject({ limit: 10 })
  })

  test('late once, and what took longer meanwhile, changes nothing', () => {
    const stalled = { kinds: took(900), isLimited: true, delayMs: 800 }
    const after = played([stalled, QUIET], KNOWN)
    expect([after.limit, after.usual.get('a')?.ms, after.latencyMs, after.judgedSince]).toEqual([
      20, 10, 10, 0,
    ])
  })

  test('that is late does not let the limit grow', () => {
    const fast = { kinds: took(10), isLimited: true, delayMs: 150 }
    expect(played(many(fast, 10), KNOWN).limit).toBeLessThan(20)
  })
})

test('the heap counts once it is full for half a second, and until it is clearly free', () => {
  const full = played(many({ heap: 0.95 }, 4), KNOWN)
  expect(full.isHeapFull).toBe(false)
  const later = played(many({ heap: 0.95 }, 8), KNOWN)
  expect(later).toMatchObject({ isHeapFull: true, signal: 'heap' })
  expect(later.limit).toBeLessThan(20)
  expect(played(many({ heap: 0.9 }, 5), later).isHeapFull).toBe(true)
  expect(played([{ heap: 0.5 }], later).isHeapFull).toBe(false)
})

describe('requests that lose their places', () => {
  const LIMITED = { isLimited: true, windowMs: 1000 }
  const late = (clients: number, ended: readonly number[], kind = 'a') => [
    {
      kind,
      ended: endedOf(ended),
      late: new Set(Array.from({ length: clients }, (_, i) => `${i}`)),
    },
  ]

  test('hang if they were fast and no longer end: the limit falls, and stays until some have ended', () => {
    const hanging = played([{ ...LIMITED, kinds: late(5, []) }], KNOWN)
    expect(hanging.limit).toBeLessThan(12)
    const waiting = played(many(LIMITED, 10), hanging)
    expect([waiting.isSlow, waiting.limit]).toEqual([true, hanging.limit])
    expect(played([{ ...LIMITED, kinds: took(10) }], waiting).isSlow).toBe(false)
  })

  test.each<[string, object]>([
    ['many others of their kind end', { kinds: late(8, [10, 10, 10, 10]) }],
    ['they are of one client or two', { kinds: late(2, []) }],
    ['requests of their kind have always taken long', { kinds: late(50, [], 'slow') }],
    ['nothing is known of their kind', { kinds: late(50, [], 'new') }],
  ])('only take long if %s', (_, sample) => {
    const usual = new Map([...KNOWN.usual, ['slow', of(4000)] as const])
    const { isSlow, limit } = played([{ ...LIMITED, ...sample }], { ...KNOWN, usual })
    expect([isSlow, limit]).toEqual([false, 40])
  })
})

describe('requests that take long', () => {
  test('are let in while nothing is known that could say that they wait for one another', () => {
    const blind = { isLimited: true, windowMs: 500 }
    expect(played(many(blind, 3)).limit).toBe(160)
    expect(played(many({ ...blind, windowMs: 250 }, 2)).limit).toBeCloseTo(40)
    expect(played(many({ ...blind, windowMs: 5000 }, 1)).limit).toBe(40)
    expect(played(many({ ...blind, windowMs: 0 }, 3)).limit).toBe(20)
  })

  test('are compared with their like: most of a kind take long, or few do and say nothing', () => {
    const mixed = (short: number, long: number) => {
      const times = [...Array<number>(short).fill(10), ...Array<number>(long).fill(2000)]
      return [{ kind: 'a', ended: endedOf(times), late: new Set<string>() }]
    }
    expect(played([{ kinds: mixed(8, 6), isLimited: true }], KNOWN).limit).toBe(40)
    expect(played([{ kinds: mixed(6, 8), isLimited: true }], KNOWN).limit).toBeLessThan(20)
  })

  test('lower the limit, but while all find a place not below what is in progress', () => {
    const slow = { kinds: took(40_000), mostActive: 12 }
    expect(played([slow], { ...KNOWN, usual: new Map([['a', of(4000)]]) }).limit).toBe(18)
  })
})

test('no more kinds than there is room for are remembered', () => {
  const kinds = Array.from({ length: 600 }, (_, i) => took(10, `kind ${i}`)).flat()
  expect(played([{ kinds }]).usual.size).toBe(500)
})
