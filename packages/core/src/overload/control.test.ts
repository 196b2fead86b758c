import { describe, expect, test } from '@jest/globals'
import { type Control, firstControl, limitOf, type Sample, step } from './control.ts'

const QUIET: Sample = {
  kinds: [],
  windowMs: 100,
  mostActive: 0,
  isLimited: false,
  delayMs: 0,
  heap: 0.1,
}

/** So many requests of a kind that took so long each. */
const took = (ms: number, kind = 'a', requests = 20) => {
  const times = Array<number>(requests).fill(ms)
  return [{ kind, ended: times, judged: times, late: new Set<string>() }]
}

function played(samples: readonly Partial<Sample>[], from: Control = firstControl): Control {
  return samples.reduce<Control>(
    (state, sample, i) => step(state, { ...QUIET, ...sample }, i * 100, 0.5),
    from,
  )
}

const KNOWN: Control = {
  ...firstControl,
  usual: new Map([['a', { ms: 10, since: 0 }]]),
  quietWindows: 5,
  latencyMs: 10,
  probeAt: Infinity,
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

  test('falls as they take longer, down to a few and never to none', () => {
    const slow = played(many({ kinds: took(100), isLimited: true }, 4), KNOWN)
    expect(slow.limit).toBeLessThan(5)
    expect(slow.limit).toBeGreaterThanOrEqual(1)
  })

  test('of fast and slow kinds together is not that of a crowd when there are more slow ones', () => {
    const usual = new Map([
      ['fast', { ms: 1, since: 0 }],
      ['slow', { ms: 500, since: 0 }],
    ])
    const kinds = [...took(500, 'slow'), ...took(1, 'fast')]
    expect(played([{ kinds, isLimited: true }], { ...KNOWN, usual }).limit).toBe(40)
  })

  test('never exceeds its bound', () => {
    expect(played(many({ kinds: took(10), isLimited: true }, 50), KNOWN).limit).toBe(10_000)
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
    ['slowly in a crowd, if that is faster', { mean: 8, requests: 10, isLimited: true }, 9.96],
    ['by half if it is twice as fast', { mean: 4, requests: 10, isLimited: true }, 7],
  ] as [string, { mean: number; requests: number; isLimited?: boolean }, number][])(
    'is learnt %s',
    (_, { mean, requests, ...sample }, usual) => {
      const kinds = took(mean, 'a', requests)
      expect(played([{ kinds, ...sample }], KNOWN).usual.get('a')?.ms).toBeCloseTo(usual)
    },
  )

  test('is measured by a probe with a third of the places, before the limit grows', () => {
    const first = played([{ kinds: took(200), isLimited: true }])
    expect([limitOf(first), first.limit, first.probingSince]).toEqual([6, 20, 0])
    const second = step(first, { ...QUIET, kinds: took(60), isLimited: true }, 200, 0.5)
    expect(second.usual.get('a')?.ms).toBeCloseTo(200 / 3)
    // A third as fast with a third of the places: they only waited for each other.
    expect([second.probingSince, limitOf(second)]).toEqual([undefined, 6])
  })

  test('a probe that sees no request is given up', () => {
    const probing = { ...KNOWN, probingSince: 0 }
    expect(step(probing, QUIET, 4000, 0.5).probingSince).toBe(0)
    expect(step(probing, QUIET, 6000, 0.5).probingSince).toBeUndefined()
    // Where requests take long, it waits for some of them.
    const slow = { ...probing, latencyMs: 10_000 }
    expect(step(slow, QUIET, 40_000, 0.5).probingSince).toBe(0)
    expect(step(slow, QUIET, 40_001, 0.5).probingSince).toBeUndefined()
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
    expect([after.limit, after.usual.get('a')?.ms, after.latencyMs]).toEqual([20, 10, 10])
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
      ended,
      judged: ended,
      late: new Set(Array.from({ length: clients }, (_, i) => `${i}`)),
    },
  ]

  test('hang if they were fast and no longer end: the limit falls at once, and stays until some have ended', () => {
    const hanging = played([{ ...LIMITED, kinds: late(5, []) }], KNOWN)
    expect(hanging.limit).toBeLessThan(12)
    const waiting = played(many(LIMITED, 10), hanging)
    expect([waiting.isHanging, waiting.limit]).toEqual([true, hanging.limit])
    expect(played([{ ...LIMITED, kinds: took(10) }], waiting).isHanging).toBe(false)
  })

  test.each<[string, object]>([
    ['many others of their kind end', { kinds: late(8, [10, 10, 10, 10]) }],
    ['they are of one client, and others end', { kinds: late(1, [10]) }],
    ['requests of their kind have always taken long', { kinds: late(50, [], 'slow') }],
    ['nothing is known of their kind', { kinds: late(50, [], 'new') }],
  ])('only take long if %s', (_, sample) => {
    const usual = new Map([...KNOWN.usual, ['slow', { ms: 4000, since: -1e6 }] as const])
    const { isHanging, limit } = played([{ ...LIMITED, ...sample }], { ...KNOWN, usual })
    expect([isHanging, limit]).toEqual([false, 40])
  })
})

describe('requests that take long', () => {
  const SLOW: Control = { ...KNOWN, latencyMs: 4000, usual: new Map() }

  test('are let in while nothing has ended that could say that they wait for one another', () => {
    expect(played(many({ isLimited: true }, 3), SLOW).limit).toBe(160)
    expect(played(many({ isLimited: true, windowMs: 0 }, 3), SLOW).limit).toBe(20)
  })

  test('are compared with their like: most of a kind take long, or few do and say nothing', () => {
    const mixed = (short: number, long: number) => {
      const times = [...Array<number>(short).fill(10), ...Array<number>(long).fill(2000)]
      return [{ kind: 'a', ended: times, judged: times, late: new Set<string>() }]
    }
    expect(played([{ kinds: mixed(8, 6), isLimited: true }], KNOWN).limit).toBe(40)
    expect(played([{ kinds: mixed(6, 8), isLimited: true }], KNOWN).limit).toBeLessThan(20)
  })

  test('are judged when most have had time to end, at the latest after 20 s', () => {
    const usual = new Map([['a', { ms: 4000, since: 0 }]])
    const after = (now: number) =>
      step({ ...SLOW, usual }, { ...QUIET, kinds: took(9000), isLimited: true }, now, 0.5).limit
    expect([after(19_000), after(21_000) < 20]).toEqual([40, true])
  })

  test('lower the limit, but while all find a place not below what is in progress', () => {
    const usual = new Map([['a', { ms: 4000, since: -1e6 }]])
    const slow = { kinds: took(40_000), mostActive: 12 }
    expect(played(many(slow, 3), { ...SLOW, usual }).limit).toBe(18)
  })

  test('teach what is usual if one at a time is let in, and still takes long', () => {
    const one = { ...KNOWN, limit: 1 }
    const taught = played(many({ kinds: took(5000), isLimited: true }, 3), one)
    expect(taught.usual.get('a')?.ms).toBeGreaterThan(100)
  })
})

test('no more kinds than there is room for are remembered', () => {
  const kinds = Array.from({ length: 600 }, (_, i) => took(10, `kind ${i}`)).flat()
  expect(played([{ kinds }]).usual.size).toBe(500)
})
