import { admits, refuses, settles, TEN_YEARS, type Trace, traces } from '../testing/trace.ts'

// The queue empties at limit/window units a ms. A request waits until what is before it has
// left, at most maxDelay: so there is room for one unit, and for what leaves within maxDelay.
// While r units remain the effective window is the time in which r units leave.
const fourASecond = { limit: 4, windowMs: 1000, maxDelayMs: 500 }
const withoutQueue = { limit: 4, windowMs: 1000, maxDelayMs: 0 }
const largest = { limit: 1e12, windowMs: TEN_YEARS, maxDelayMs: TEN_YEARS, from: 5 * TEN_YEARS }
const severalAMs = { limit: 1500, windowMs: 1000, maxDelayMs: 2 }

export const leakyBucketTraces: readonly Trace[] = [
  ...traces(fourASecond, {
    'the first continues immediately, the others one turn after another, one over is refused': [
      // A unit leaves in 250 ms; room for 750.
      admits(0, 1, { remaining: 2, resetMs: 250, effectiveMs: 500 }),
      admits(0, 1, { remaining: 1, resetMs: 500, effectiveMs: 250, delayMs: 250 }),
      admits(0, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
      refuses(0, 1, { remaining: 0, resetMs: 750, retryAfterMs: 250 }),
      refuses(249, 1, { remaining: 0, resetMs: 501, retryAfterMs: 1 }),
      admits(250, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
      admits(999, 1, { remaining: 1, resetMs: 251, effectiveMs: 250, delayMs: 1 }),
    ],
    'cost 0 passes while a unit remains, and waits its turn too': [
      admits(0, 0, { remaining: 3, resetMs: 0, effectiveMs: 750 }),
      admits(0, 2, { remaining: 1, resetMs: 500, effectiveMs: 250 }),
      admits(100, 0, { remaining: 1, resetMs: 400, effectiveMs: 250, delayMs: 400 }),
      admits(100, 1, { remaining: 0, resetMs: 650, effectiveMs: 150, delayMs: 400 }),
      refuses(100, 0, { remaining: 0, resetMs: 650, retryAfterMs: 150 }),
    ],
    'settle gives back, down to an empty queue, and charges more, into debt': [
      admits(0, 3, { remaining: 0, resetMs: 750, effectiveMs: 250 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 0 }, { remaining: 1, resetMs: 500 }),
      admits(0, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
      settles(500, { delta: -2, chargedAt: 0, remaining: 0 }, { remaining: 3, resetMs: 0 }),
      settles(500, { delta: 4, chargedAt: 0 }, { remaining: 0, resetMs: 1000 }),
      refuses(500, 1, { remaining: 0, resetMs: 1000, retryAfterMs: 500 }),
      refuses(999, 1, { remaining: 0, resetMs: 501, retryAfterMs: 1 }),
      admits(1000, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
    ],
    'a turn is given back while it is the last one; those behind one keep their times': [
      admits(0, 1, { remaining: 2, resetMs: 250, effectiveMs: 500 }),
      admits(0, 1, { remaining: 1, resetMs: 500, effectiveMs: 250, delayMs: 250 }),
      admits(0, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 2 }, { remaining: 0, resetMs: 750 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 1 }, { remaining: 0, resetMs: 750 }),
      settles(100, { delta: -1, chargedAt: 0, remaining: 0 }, { remaining: 1, resetMs: 400 }),
      // Given back once: it is no longer there.
      settles(100, { delta: -1, chargedAt: 0, remaining: 0 }, { remaining: 1, resetMs: 400 }),
      settles(100, { delta: -1, chargedAt: 0, remaining: 1 }, { remaining: 2, resetMs: 150 }),
      admits(100, 1, { remaining: 1, resetMs: 400, effectiveMs: 250, delayMs: 150 }),
    ],
    'given back in two parts: a turn behind the first part is not given away with the second': [
      admits(0, 2, { remaining: 1, resetMs: 500, effectiveMs: 250 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 1 }, { remaining: 2, resetMs: 250 }),
      admits(0, 1, { remaining: 1, resetMs: 500, effectiveMs: 250, delayMs: 250 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 2 }, { remaining: 1, resetMs: 500 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 1 }, { remaining: 2, resetMs: 250 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 2 }, { remaining: 3, resetMs: 0 }),
    ],
    'where nobody knows what remained, it is given back if the queue had nothing else': [
      admits(0, 1, { remaining: 2, resetMs: 250, effectiveMs: 500 }),
      settles(100, { delta: -1, chargedAt: 0 }, { remaining: 3, resetMs: 0 }),
      admits(200, 1, { remaining: 2, resetMs: 250, effectiveMs: 500 }),
      admits(300, 1, { remaining: 1, resetMs: 400, effectiveMs: 250, delayMs: 150 }),
      settles(300, { delta: -1, chargedAt: 200 }, { remaining: 1, resetMs: 400 }),
      settles(300, { delta: -1, chargedAt: 300 }, { remaining: 1, resetMs: 400 }),
    ],
  }),
  ...traces(withoutQueue, {
    'maxDelay 0: no request waits, each is refused before its turn': [
      admits(0, 1, { remaining: 0, resetMs: 250, effectiveMs: 250 }),
      refuses(249, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(250, 1, { remaining: 0, resetMs: 250, effectiveMs: 250 }),
    ],
  }),
  ...traces(largest, {
    '10^12 in ten years, at most ten years late: ticks of 35036749.2 ms': [
      // Room for 10^12 + 1: ⌊(2^53 − 1) / (10^12 + 1)⌋ = 9007 ticks.
      admits(0, 1e12, { remaining: 1, resetMs: TEN_YEARS, effectiveMs: 35_036_750 }),
      admits(1, 1, {
        remaining: 0,
        // 9007 ticks are before it, and end at TEN_YEARS; its own part ends with the next one.
        resetMs: TEN_YEARS + 35_036_749,
        effectiveMs: 35_036_749,
        delayMs: TEN_YEARS - 1,
      }),
    ],
    'in the middle of a coarse tick, an empty queue has nobody waiting': [
      admits(1000, 0, { remaining: 1e12 + 1, resetMs: 0, effectiveMs: TEN_YEARS + 35_035_750 }),
      admits(1000, 1, { remaining: 1e12, resetMs: 35_035_750, effectiveMs: TEN_YEARS - 1000 }),
    ],
  }),
  ...traces(severalAMs, {
    'several turns in a millisecond, and turns that are no whole milliseconds': [
      // Two parts a unit, three leave per ms, room for eight.
      admits(0, 1, { remaining: 3, resetMs: 1, effectiveMs: 2 }),
      admits(0, 1, { remaining: 2, resetMs: 2, effectiveMs: 2, delayMs: 1 }),
      admits(0, 1, { remaining: 1, resetMs: 2, effectiveMs: 1, delayMs: 2 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 2 }, { remaining: 1, resetMs: 2 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 1 }, { remaining: 2, resetMs: 2 }),
      settles(1, { delta: -1, chargedAt: 0, remaining: 2 }, { remaining: 4, resetMs: 0 }),
    ],
  }),
]
