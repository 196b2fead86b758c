// Versions of an application with different limits count in one state, one after the other or in turn.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { AlgorithmParams, CompiledLimit } from './algorithm.ts'
import { type AlgorithmName, algorithms } from './index.ts'
import { anyOffset, anyParams, anyTraffic, type Move } from './testing/arbitraries.ts'
import type { Admitted } from './testing/oracles.ts'
import { SoleKey } from './testing/sole-key.ts'
import { START, TEN_YEARS } from './testing/trace.ts'
import { tickAt, tickStart, ticksPerWindow } from './ticks.ts'

const names = Object.keys(algorithms) as AlgorithmName[]

/** The parameters of two versions, with one window. */
function anyVersions(name: AlgorithmName): fc.Arbitrary<[AlgorithmParams, AlgorithmParams]> {
  const both = fc.tuple(anyParams(name), anyParams(name))
  return both.map(([one, { limit, burst, maxDelayMs }]) => [
    one,
    { ...one, limit, burst, maxDelayMs: maxDelayMs && Math.min(maxDelayMs, one.windowMs) },
  ])
}

/** Requests, and which of the versions decides each. */
const anyShared: fc.Arbitrary<(Move & { version: number })[]> = anyTraffic(60).chain((traffic) =>
  fc
    .array(fc.nat(1), { minLength: traffic.length, maxLength: traffic.length })
    .map((versions) => traffic.map((move, i) => ({ ...move, version: versions[i] as number }))),
)

const compiled = (name: AlgorithmName, versions: readonly AlgorithmParams[]) =>
  versions.map((params) => algorithms[name].compile(params)) as [CompiledLimit, CompiledLimit]

/** Sends the requests to one key; returns what was charged, and the key as it is at the end. */
function share(
  limits: readonly CompiledLimit[],
  { windowMs }: AlgorithmParams,
  offset: number,
  traffic: readonly (Move & { version: number })[],
) {
  const key = new SoleKey(limits[0] as CompiledLimit)
  const admitted: Admitted[] = []
  let now = START + offset
  let waitMs = 0
  for (const { pause, cost, version } of traffic) {
    if (pause === 'as stated') now += Number.isFinite(waitMs) ? waitMs : 0
    else now += Math.max(0, Math.floor((pause.share * windowMs) / 1000) + pause.ms)
    key.limit = limits[version] as CompiledLimit
    const outcome = key.consume(now, cost)
    waitMs = outcome.effectiveMs
    if (outcome.admitted && cost > 0) admitted.push({ at: now, cost })
  }
  return { key, admitted, now }
}

/** The most units in any span (end − length, end]. */
function mostWithin(length: number, admitted: readonly Admitted[]): number {
  const within = admitted.map(({ at: end }) =>
    admitted.filter(({ at }) => at > end - length && at <= end),
  )
  return Math.max(0, ...within.map((span) => span.reduce((total, { cost }) => total + cost, 0)))
}

/** The bound of each algorithm, for the larger one of each parameter. */
const bounds: { [name in AlgorithmName]: (most: Required<AlgorithmParams>) => number } = {
  'fixed-window': ({ limit }) => 2 * limit,
  'sliding-window': ({ limit }) => 2 * limit,
  'sliding-log': ({ limit }) => limit,
  'token-bucket': ({ limit, burst }) => burst + limit,
  'leaky-bucket': ({ limit, maxDelayMs, windowMs }) =>
    1 + Math.ceil((maxDelayMs * limit) / windowMs) + limit,
}

/** A request of cost 0 is admitted at the end, which writes nothing: the bucket is as it was before. */
const notWritten: [AlgorithmParams[], number, (Move & { version: number })[]] = [
  [
    { limit: 2, windowMs: 1, burst: 1 },
    { limit: 1, windowMs: 1, burst: 13 },
  ],
  0,
  [
    { pause: { share: 0, ms: 0 }, cost: 2, version: 1 },
    { pause: { share: 0, ms: 0 }, cost: 1, version: 0 },
    { pause: 'as stated', cost: 0, version: 1 },
  ],
]

describe.each(names)('%s', (name) => {
  const check = (
    property: (
      versions: readonly AlgorithmParams[],
      limits: [CompiledLimit, CompiledLimit],
      shared: ReturnType<typeof share>,
    ) => void,
  ) =>
    fc.assert(
      fc.property(anyVersions(name), anyOffset, anyShared, (versions, offset, traffic) => {
        const limits = compiled(name, versions)
        property(versions, limits, share(limits, versions[0], offset, traffic))
      }),
      { numRuns: 400, examples: name === 'token-bucket' ? [notWritten] : [] },
    )

  test('versions in any turn admit together what the larger limit admits at most', () => {
    check((versions, _, { admitted }) => {
      const most = (option: 'limit' | 'burst' | 'maxDelayMs') =>
        Math.max(...versions.map((params) => params[option] ?? 0))
      const { windowMs } = versions[0] as AlgorithmParams
      const larger = { limit: most('limit'), burst: most('burst'), maxDelayMs: most('maxDelayMs') }
      const bound = bounds[name]({ ...larger, windowMs } as Required<AlgorithmParams>)
      expect(mostWithin(windowMs, admitted)).toBeLessThanOrEqual(bound)
    })
  })

  test('what was used is the same for both, but for less than a unit against the client', () => {
    check((_, limits, { key, admitted, now }) => {
      // Since then it has drained, in each version's own time.
      if (admitted.at(-1)?.at !== now) return
      const used = (limit: CompiledLimit) => {
        const full = new SoleKey(limit).ask(now).remaining
        key.limit = limit
        const { remaining } = key.ask(now)
        return remaining === 0 ? undefined : full - remaining
      }
      const last = used(key.limit)
      for (const limit of limits) {
        const counted = used(limit)
        if (last === undefined || counted === undefined) continue
        // The capacity of a queue need not be whole units.
        const parts = name === 'leaky-bucket' ? 1 : 0
        expect(counted).toBeGreaterThanOrEqual(last - parts)
        expect(counted).toBeLessThanOrEqual(last + 1)
      }
    })
  })

  test('either waits exactly, whoever has counted before', () => {
    check((_, limits, { key, now }) => {
      for (const limit of limits) {
        key.limit = limit
        const { admitted, retryAfterMs } = key.ask(now, 1)
        if (admitted || retryAfterMs === Infinity) continue
        expect(key.ask(now + retryAfterMs, 1).admitted).toBe(true)
        expect(key.ask(now + retryAfterMs - 1, 1).admitted).toBe(false)
      }
    })
  })

  test('what one refuses changes nothing for the other', () => {
    check((_, limits, { key, now }) => {
      for (const limit of limits) {
        key.limit = limit
        const before = limits.map((each) => askOf(key, each, now))
        key.consume(now, 1_000_000_000)
        expect(limits.map((each) => askOf(key, each, now))).toEqual(before)
      }
    })
  })
})

function askOf(key: SoleKey, limit: CompiledLimit, now: number) {
  const asked = key.fork()
  asked.limit = limit
  return asked.ask(now)
}

describe('an adversary who may choose the version', () => {
  test.each([
    [1e12, 9e11],
    [1e12, 7e11],
    [9e11, 6e11],
  ])('gains no refill where versions with %d and %d count in different ticks', (...versions) => {
    const limits = versions.map((limit) =>
      algorithms['token-bucket'].compile({ limit, windowMs: TEN_YEARS }),
    ) as [CompiledLimit, CompiledLimit]
    // Each comes when one of its ticks begins.
    const visits = versions.flatMap((units, version) => {
      const ticks = ticksPerWindow(units, TEN_YEARS)
      const first = tickAt(START, TEN_YEARS, ticks)
      return Array.from({ length: 60 }, (_, i) => {
        return { version, now: tickStart(first + i, TEN_YEARS, ticks) }
      })
    })
    visits.sort((one, other) => one.now - other.now)
    const [from, until] = [visits[0]?.now as number, visits.at(-1)?.now as number]
    const key = new SoleKey(limits[0])
    expect(key.consume(from, 5e11).admitted).toBe(true)
    for (const { version, now } of visits) {
      key.limit = limits[version] as CompiledLimit
      expect(key.consume(now).admitted).toBe(true)
    }
    const used = (versions[0] as number) - askOf(key, limits[0], until).remaining
    const most = Math.max(...versions)
    const drained = 5e11 + visits.length - used
    expect(drained).toBeGreaterThan(0)
    expect(drained).toBeLessThanOrEqual((most * (until - from)) / TEN_YEARS + most / 5000)
  })

  test('gains nothing from a bucket by alternating, wherever the levels are rounded', () => {
    for (const [one, other] of [
      [9_999, 12_345],
      [7, 11],
      [1, 1_000_000],
    ] as const) {
      const windowMs = 2_592_000_000
      const limits = [one, other].map((limit) =>
        algorithms['token-bucket'].compile({ limit, windowMs }),
      ) as [CompiledLimit, CompiledLimit]
      const key = new SoleKey(limits[0])
      const [start, spanMs] = [START, windowMs]
      let taken = 0
      for (let i = 0; i <= 20_000; i += 1) {
        key.limit = limits[i % 2] as CompiledLimit
        const now = start + Math.floor((i * spanMs) / 20_000)
        const { remaining } = key.ask(now)
        const cost = Math.max(1, i % 3 === 0 ? remaining : Math.floor(remaining / 2))
        if (key.consume(now, cost).admitted) taken += cost
      }
      expect(taken).toBeLessThanOrEqual(2 * other)
    }
  })
})
