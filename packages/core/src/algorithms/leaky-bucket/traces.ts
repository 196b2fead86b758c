import { admits, HOUR, refuses, settles, TEN_YEARS, type Trace, YEAR } from '../testing/trace.ts'

// The queue empties at limit/window units a ms. A request waits until what is before it has
// left, at most maxDelay: so there is room for one unit, and for what leaves within maxDelay.
// While r units remain the effective window is the time in which r units leave.
const fourASecond = { limit: 4, windowMs: 1000, maxDelayMs: 500 }

export const leakyBucketTraces: readonly Trace[] = [
  {
    name: 'the first continues immediately, the others one turn after another, one over is refused',
    params: fourASecond,
    steps: [
      // A unit leaves in 250 ms; room for 750.
      admits(0, 1, { remaining: 2, resetMs: 250, effectiveMs: 500 }),
      admits(0, 1, { remaining: 1, resetMs: 500, effectiveMs: 250, delayMs: 250 }),
      admits(0, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
      refuses(0, 1, { remaining: 0, resetMs: 750, retryAfterMs: 250 }),
      refuses(249, 1, { remaining: 0, resetMs: 501, retryAfterMs: 1 }),
      admits(250, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
      admits(999, 1, { remaining: 1, resetMs: 251, effectiveMs: 250, delayMs: 1 }),
    ],
  },
  {
    name: 'maxDelay 1 ms short of two turns',
    params: { limit: 4, windowMs: 1000, maxDelayMs: 499 },
    steps: [
      admits(0, 1, { remaining: 1, resetMs: 250, effectiveMs: 250 }),
      admits(0, 1, { remaining: 0, resetMs: 500, effectiveMs: 1, delayMs: 250 }),
      refuses(0, 1, { remaining: 0, resetMs: 500, retryAfterMs: 1 }),
      admits(1, 1, { remaining: 0, resetMs: 749, effectiveMs: 250, delayMs: 499 }),
    ],
  },
  {
    name: 'maxDelay 1 ms over two turns',
    params: { limit: 4, windowMs: 1000, maxDelayMs: 501 },
    steps: [
      admits(0, 2, { remaining: 1, resetMs: 500, effectiveMs: 250 }),
      admits(0, 1, { remaining: 0, resetMs: 750, effectiveMs: 249, delayMs: 500 }),
      refuses(248, 1, { remaining: 0, resetMs: 502, retryAfterMs: 1 }),
      admits(249, 1, { remaining: 0, resetMs: 751, effectiveMs: 250, delayMs: 501 }),
    ],
  },
  {
    name: 'maxDelay 0: no request waits, each is refused before its turn',
    params: { limit: 4, windowMs: 1000, maxDelayMs: 0 },
    steps: [
      admits(0, 1, { remaining: 0, resetMs: 250, effectiveMs: 250 }),
      refuses(249, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(250, 1, { remaining: 0, resetMs: 250, effectiveMs: 250 }),
    ],
  },
  {
    name: '3 in 1000 ms, turns of 333.3 ms, the default maxDelay of 1 s',
    params: { limit: 3, windowMs: 1000 },
    steps: [
      // 1000 parts a unit, 3 leave per ms, room for 4000.
      admits(0, 1, { remaining: 3, resetMs: 334, effectiveMs: 1000 }),
      admits(0, 1, { remaining: 2, resetMs: 667, effectiveMs: 667, delayMs: 334 }),
      admits(0, 1, { remaining: 1, resetMs: 1000, effectiveMs: 334, delayMs: 667 }),
      admits(0, 1, { remaining: 0, resetMs: 1334, effectiveMs: 334, delayMs: 1000 }),
      refuses(333, 1, { remaining: 0, resetMs: 1001, retryAfterMs: 1 }),
      // 4000 − 1002 = 2998 are before it: 999.3 ms; then 998 too many for one more
      admits(334, 1, { remaining: 0, resetMs: 1333, effectiveMs: 333, delayMs: 1000 }),
    ],
  },
  {
    name: 'a refused large cost leaves room for a small one',
    params: fourASecond,
    steps: [
      refuses(0, 4, { remaining: 3, resetMs: 0, retryAfterMs: Infinity }),
      admits(0, 2, { remaining: 1, resetMs: 500, effectiveMs: 250 }),
      refuses(0, 2, { remaining: 1, resetMs: 500, retryAfterMs: 250 }),
      refuses(0, Number.MAX_SAFE_INTEGER, { remaining: 1, resetMs: 500, retryAfterMs: Infinity }),
      admits(0, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
    ],
  },
  {
    name: 'cost 0 passes while a unit remains, and waits its turn too',
    params: fourASecond,
    steps: [
      admits(0, 0, { remaining: 3, resetMs: 0, effectiveMs: 750 }),
      admits(0, 2, { remaining: 1, resetMs: 500, effectiveMs: 250 }),
      admits(100, 0, { remaining: 1, resetMs: 400, effectiveMs: 250, delayMs: 400 }),
      admits(100, 1, { remaining: 0, resetMs: 650, effectiveMs: 150, delayMs: 400 }),
      refuses(100, 0, { remaining: 0, resetMs: 650, retryAfterMs: 150 }),
    ],
  },
  {
    name: 'the clock steps back an hour: nothing leaves meanwhile, then as usual',
    params: fourASecond,
    steps: [
      admits(0, 3, { remaining: 0, resetMs: 750, effectiveMs: 250 }),
      refuses(-HOUR, 1, { remaining: 0, resetMs: 750, retryAfterMs: 250 }),
      refuses(-HOUR + 249, 1, { remaining: 0, resetMs: 501, retryAfterMs: 1 }),
      admits(-HOUR + 250, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
      // And forward again: one full quota.
      admits(0, 3, { remaining: 0, resetMs: 750, effectiveMs: 250 }),
      refuses(0, 1, { remaining: 0, resetMs: 750, retryAfterMs: 250 }),
    ],
  },
  {
    name: 'limit 1',
    params: { limit: 1, windowMs: 1000, maxDelayMs: 1000 },
    steps: [
      admits(0, 1, { remaining: 1, resetMs: 1000, effectiveMs: 1000 }),
      admits(0, 1, { remaining: 0, resetMs: 2000, effectiveMs: 1000, delayMs: 1000 }),
      refuses(999, 1, { remaining: 0, resetMs: 1001, retryAfterMs: 1 }),
      admits(1000, 1, { remaining: 0, resetMs: 2000, effectiveMs: 1000, delayMs: 1000 }),
    ],
  },
  {
    name: 'limit 0 never admits',
    params: { limit: 0, windowMs: 1000, maxDelayMs: 1000 },
    steps: [
      refuses(0, 1, { remaining: 0, resetMs: 0, retryAfterMs: Infinity }),
      refuses(0, 0, { remaining: 0, resetMs: 0, retryAfterMs: Infinity }),
    ],
  },
  {
    name: '7 in 60 s, at most 10 s late',
    params: { limit: 7, windowMs: 60_000, maxDelayMs: 10_000 },
    steps: [
      // 60000 parts a unit, 7 leave per ms, room for 130000.
      admits(0, 1, { remaining: 1, resetMs: 8572, effectiveMs: 8572 }),
      // 50000 too many for one more: 7142.9 ms
      admits(0, 1, { remaining: 0, resetMs: 17_143, effectiveMs: 7143, delayMs: 8572 }),
      // 120000 − 49994 = 70006 are there: 10000.9 ms
      refuses(7142, 1, { remaining: 0, resetMs: 10_001, retryAfterMs: 1 }),
      // 69999 before it: 9999.9 ms; 129999 then: 18571.3 ms; 59999 too many: 8571.3 ms
      admits(7143, 1, { remaining: 0, resetMs: 18_572, effectiveMs: 8572, delayMs: 10_000 }),
    ],
  },
  {
    name: 'a window of 1 ms',
    params: { limit: 2, windowMs: 1, maxDelayMs: 1 },
    steps: [
      // Two leave per ms, room for three.
      admits(0, 3, { remaining: 0, resetMs: 2, effectiveMs: 1 }),
      refuses(0, 1, { remaining: 0, resetMs: 2, retryAfterMs: 1 }),
      admits(1, 2, { remaining: 0, resetMs: 2, effectiveMs: 1, delayMs: 1 }),
    ],
  },
  {
    name: 'one in ten years, at most ten years late',
    params: { limit: 1, windowMs: TEN_YEARS, maxDelayMs: TEN_YEARS },
    steps: [
      admits(0, 1, { remaining: 1, resetMs: TEN_YEARS, effectiveMs: TEN_YEARS }),
      admits(0, 1, {
        remaining: 0,
        resetMs: 2 * TEN_YEARS,
        effectiveMs: TEN_YEARS,
        delayMs: TEN_YEARS,
      }),
      refuses(TEN_YEARS - 1, 1, { remaining: 0, resetMs: TEN_YEARS + 1, retryAfterMs: 1 }),
    ],
  },
  {
    name: '10^9 in a year, exact to the ms',
    params: { limit: 1e9, windowMs: YEAR },
    steps: [
      // 1250/39447 units a ms: room for 1 + ⌊1250000/39447⌋ = 1 + 31, which leave in 978.3 ms
      admits(0, 1, { remaining: 31, resetMs: 32, effectiveMs: 979 }),
      admits(1, 31, { remaining: 0, resetMs: 1009, effectiveMs: 9, delayMs: 31 }),
    ],
  },
  {
    name: '10^12 in ten years, exact to the ms',
    params: { limit: 1e12, windowMs: TEN_YEARS },
    steps: [
      // 125000/39447 units a ms: room for 1 + ⌊3168.8⌋, which leave in 999.8 ms
      admits(0, 1, { remaining: 3168, resetMs: 1, effectiveMs: 1000 }),
      admits(0, 3168, { remaining: 0, resetMs: 1001, effectiveMs: 1, delayMs: 1 }),
    ],
  },
  {
    name: '10^12 in ten years, at most ten years late: ticks of 35036749.2 ms',
    params: { limit: 1e12, windowMs: TEN_YEARS, maxDelayMs: TEN_YEARS },
    from: 5 * TEN_YEARS,
    steps: [
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
  },
  {
    name: 'settle gives back, down to an empty queue, and charges more, into debt',
    params: fourASecond,
    steps: [
      admits(0, 3, { remaining: 0, resetMs: 750, effectiveMs: 250 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 0 }, { remaining: 1, resetMs: 500 }),
      admits(0, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
      settles(500, { delta: -2, chargedAt: 0, remaining: 0 }, { remaining: 3, resetMs: 0 }),
      settles(500, { delta: 4, chargedAt: 0 }, { remaining: 0, resetMs: 1000 }),
      refuses(500, 1, { remaining: 0, resetMs: 1000, retryAfterMs: 500 }),
      refuses(999, 1, { remaining: 0, resetMs: 501, retryAfterMs: 1 }),
      admits(1000, 1, { remaining: 0, resetMs: 750, effectiveMs: 250, delayMs: 500 }),
    ],
  },
  {
    name: 'a turn is given back while it is the last one; those behind one keep their times',
    params: fourASecond,
    steps: [
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
  },
  {
    name: 'a turn that began before is given back as far as it has not passed',
    params: fourASecond,
    steps: [
      admits(0, 2, { remaining: 1, resetMs: 500, effectiveMs: 250 }),
      settles(400, { delta: -2, chargedAt: 0, remaining: 1 }, { remaining: 3, resetMs: 0 }),
      settles(400, { delta: -2, chargedAt: 0, remaining: 1 }, { remaining: 3, resetMs: 0 }),
      admits(400, 1, { remaining: 2, resetMs: 250, effectiveMs: 500 }),
    ],
  },
  {
    name: 'where nobody knows what remained, it is given back if the queue had nothing else',
    params: fourASecond,
    steps: [
      admits(0, 1, { remaining: 2, resetMs: 250, effectiveMs: 500 }),
      settles(100, { delta: -1, chargedAt: 0 }, { remaining: 3, resetMs: 0 }),
      admits(200, 1, { remaining: 2, resetMs: 250, effectiveMs: 500 }),
      admits(300, 1, { remaining: 1, resetMs: 400, effectiveMs: 250, delayMs: 150 }),
      settles(300, { delta: -1, chargedAt: 200 }, { remaining: 1, resetMs: 400 }),
      settles(300, { delta: -1, chargedAt: 300 }, { remaining: 1, resetMs: 400 }),
    ],
  },
  {
    name: 'several turns in a millisecond, and turns that are no whole milliseconds',
    params: { limit: 1500, windowMs: 1000, maxDelayMs: 2 },
    steps: [
      // Two parts a unit, three leave per ms, room for eight.
      admits(0, 1, { remaining: 3, resetMs: 1, effectiveMs: 2 }),
      admits(0, 1, { remaining: 2, resetMs: 2, effectiveMs: 2, delayMs: 1 }),
      admits(0, 1, { remaining: 1, resetMs: 2, effectiveMs: 1, delayMs: 2 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 2 }, { remaining: 1, resetMs: 2 }),
      settles(0, { delta: -1, chargedAt: 0, remaining: 1 }, { remaining: 2, resetMs: 2 }),
      settles(1, { delta: -1, chargedAt: 0, remaining: 2 }, { remaining: 4, resetMs: 0 }),
    ],
  },
]
