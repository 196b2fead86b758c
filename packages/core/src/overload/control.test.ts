import { describe, expect, test } from '@jest/globals'
import { type Control, firstControl, limitOf, type Sample, step } from './control.ts'

const QUIET: Sample = {
  kinds: [],
  mostActive: 0,
  isLimited: false,
  delayMs: 0,
  heap: 0.1,
  hanging: 0,
  hangingMs: 0,
}

/** Twenty requests of a kind that took so long each. */
const took = (ms: number, kind = 'a') => [{ kind, requests: 20, totalMs: 20 * ms }]

function played(samples: readonly Partial<Sample>[], from: Control = firstControl): Control {
  return samples.reduce<Control>(
    (state, sample, i) => step(state, { ...QUIET, ...sample }, i * 100, 0.5),
    from,
  )
}

const KNOWN: Control = {
  ...firstControl,
  usual: new Map([['a', 10]]),
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
    const slow = played(many({ kinds: took(100), isLimited: true }, 100), KNOWN)
    expect(slow.limit).toBeLessThan(5)
    expect(slow.limit).toBeGreaterThanOrEqual(1)
  })

  test('of fast and slow kinds together is not that of a crowd when there are more slow ones', () => {
    const usual = new Map([
      ['fast', 1],
      ['slow', 500],
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
    const { usual } = played(many({ kinds: took(100), isLimited: true }, 50), KNOWN)
    expect(usual.get('a')).toBe(10)
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
      const kinds = [{ kind: 'a', requests, totalMs: mean * requests }]
      expect(played([{ kinds, ...sample }], KNOWN).usual.get('a')).toBeCloseTo(usual)
    },
  )

  test('is measured by a probe with a third of the places, before the limit grows', () => {
    const first = played([{ kinds: took(200), isLimited: true }])
    expect([limitOf(first), first.limit, first.probingSince]).toEqual([6, 20, 0])
    const second = step(first, { ...QUIET, kinds: took(60), isLimited: true }, 200, 0.5)
    expect(second.usual.get('a')).toBeCloseTo(200 / 3)
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
    expect([after.limit, after.usual.get('a'), after.latencyMs]).toEqual([20, 10, 10])
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

test('requests that hang lower the limit as slow ones do', () => {
  const hanging = { hanging: 5, hangingMs: 5000, isLimited: true }
  const { limit } = played(many(hanging, 10), KNOWN)
  expect(limit).toBeLessThan(10)
})

test('no more kinds than there is room for are remembered', () => {
  const kinds = Array.from({ length: 600 }, (_, i) => took(10, `kind ${i}`)).flat()
  expect(played([{ kinds }]).usual.size).toBe(500)
})
