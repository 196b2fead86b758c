import {
  admits,
  HOUR,
  MONTH,
  refuses,
  settles,
  TEN_YEARS,
  type Trace,
  YEAR,
} from '../testing/trace.ts'

// `elapsed` ms into a window, with `previous` units charged in the one before and `current` in it:
// left = limit − current − ⌊previous · inside / window⌋, inside = window − 1 − elapsed. The quota is
// full again when that share is 0, in the next window if anything is charged in this one. While
// units remain the effective window ends with this one; else it ends with one unit's return.
const threeASecond = { limit: 3, windowMs: 1000 }
const threeAMinute = { limit: 3, windowMs: 60_000 }

export const slidingWindowTraces: readonly Trace[] = [
  {
    name: 'counts to the limit and refuses one over',
    params: threeASecond,
    steps: [
      admits(0, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      admits(500, 1, { remaining: 1, resetMs: 1000, effectiveMs: 500 }),
      // In the next window ⌊3 · 999/1000⌋ = 2: a unit is back as it begins.
      admits(998, 1, { remaining: 0, resetMs: 668, effectiveMs: 2 }),
      refuses(998, 1, { remaining: 0, resetMs: 668, retryAfterMs: 2 }),
      refuses(999, 1, { remaining: 0, resetMs: 667, retryAfterMs: 1 }),
      admits(1000, 1, { remaining: 0, resetMs: 1000, effectiveMs: 333 }),
    ],
  },
  {
    name: 'admits 2·limit in a span as long as a window in the worst case',
    params: threeASecond,
    steps: [
      admits(999, 3, { remaining: 0, resetMs: 667, effectiveMs: 1 }),
      // ⌊3 · 999/1000⌋ = 2; the next unit when 3·inside/1000 < 2: inside = 666, elapsed = 333
      admits(1000, 1, { remaining: 0, resetMs: 1000, effectiveMs: 333 }),
      refuses(1332, 1, { remaining: 0, resetMs: 668, retryAfterMs: 1 }),
      // The next when 3·inside/1000 < 1: inside = 333, elapsed = 666.
      admits(1333, 1, { remaining: 0, resetMs: 1167, effectiveMs: 333 }),
      refuses(1665, 1, { remaining: 0, resetMs: 835, retryAfterMs: 1 }),
      // The sixth in 667 ms.
      admits(1666, 1, { remaining: 0, resetMs: 1000, effectiveMs: 334 }),
      refuses(1666, 1, { remaining: 0, resetMs: 1000, retryAfterMs: 334 }),
      refuses(1999, 1, { remaining: 0, resetMs: 667, retryAfterMs: 1 }),
      // previous = 3
      admits(2000, 1, { remaining: 0, resetMs: 1000, effectiveMs: 333 }),
    ],
  },
  {
    name: 'a refused large cost leaves room for a small one',
    params: threeASecond,
    steps: [
      refuses(0, 4, { remaining: 3, resetMs: 0, retryAfterMs: Infinity }),
      admits(0, 2, { remaining: 1, resetMs: 1500, effectiveMs: 1000 }),
      // ⌊2 · 999/1000⌋ = 1: two fit as the next window begins.
      refuses(0, 2, { remaining: 1, resetMs: 1500, retryAfterMs: 1000 }),
      // Three fit when 2·inside/1000 < 1: inside = 499, 500 ms into it.
      refuses(0, 3, { remaining: 1, resetMs: 1500, retryAfterMs: 1500 }),
      refuses(0, Number.MAX_SAFE_INTEGER, { remaining: 1, resetMs: 1500, retryAfterMs: Infinity }),
      admits(0, 1, { remaining: 0, resetMs: 1666, effectiveMs: 1000 }),
    ],
  },
  {
    name: 'cost 0 passes while a unit remains',
    params: threeASecond,
    steps: [
      admits(0, 0, { remaining: 3, resetMs: 0, effectiveMs: 1000 }),
      admits(0, 3, { remaining: 0, resetMs: 1666, effectiveMs: 1000 }),
      refuses(0, 0, { remaining: 0, resetMs: 1666, retryAfterMs: 1000 }),
      refuses(999, 0, { remaining: 0, resetMs: 667, retryAfterMs: 1 }),
      admits(1000, 0, { remaining: 1, resetMs: 666, effectiveMs: 1000 }),
    ],
  },
  {
    name: 'both counts are gone when two windows are',
    params: threeASecond,
    steps: [
      admits(999, 3, { remaining: 0, resetMs: 667, effectiveMs: 1 }),
      refuses(1000, 3, { remaining: 1, resetMs: 666, retryAfterMs: 666 }),
      // Of the first three 3 · 333/1000 are inside: less than one.
      admits(1666, 0, { remaining: 3, resetMs: 0, effectiveMs: 334 }),
      admits(2000, 3, { remaining: 0, resetMs: 1666, effectiveMs: 1000 }),
    ],
  },
  {
    name: 'the clock steps back an hour: all counts as the previous window, gone within one',
    params: threeAMinute,
    steps: [
      admits(0, 3, { remaining: 0, resetMs: 100_000, effectiveMs: 60_000 }),
      // ⌊3 · 59999/60000⌋ = 2; the next unit at inside = 39999, elapsed = 20000
      admits(-HOUR, 1, { remaining: 0, resetMs: 60_000, effectiveMs: 20_000 }),
      refuses(-HOUR + 19_999, 1, { remaining: 0, resetMs: 40_001, retryAfterMs: 1 }),
      admits(-HOUR + 20_000, 1, { remaining: 0, resetMs: 70_000, effectiveMs: 20_000 }),
      // ⌊2 · 59999/60000⌋ = 1
      admits(-HOUR + 60_000, 2, { remaining: 0, resetMs: 90_000, effectiveMs: 30_000 }),
      // And forward again: one full quota.
      admits(0, 3, { remaining: 0, resetMs: 100_000, effectiveMs: 60_000 }),
      refuses(0, 1, { remaining: 0, resetMs: 100_000, retryAfterMs: 60_000 }),
    ],
  },
  {
    name: 'the clock steps back an hour: both counts count, as one',
    params: threeASecond,
    steps: [
      admits(999, 2, { remaining: 1, resetMs: 501, effectiveMs: 1 }),
      // ⌊2 · 499/1000⌋ = 0
      admits(1500, 1, { remaining: 2, resetMs: 500, effectiveMs: 500 }),
      // previous = 3
      admits(-HOUR, 1, { remaining: 0, resetMs: 1000, effectiveMs: 333 }),
      refuses(-HOUR + 332, 1, { remaining: 0, resetMs: 668, retryAfterMs: 1 }),
      admits(-HOUR + 333, 1, { remaining: 0, resetMs: 1167, effectiveMs: 333 }),
    ],
  },
  {
    name: 'the clock steps back 1 ms over an edge: all of it is forgotten',
    params: threeAMinute,
    steps: [
      admits(0, 3, { remaining: 0, resetMs: 100_000, effectiveMs: 60_000 }),
      // inside = 0
      admits(-1, 2, { remaining: 1, resetMs: 30_001, effectiveMs: 1 }),
      // Two count as the previous window's: ⌊2 · 59999/60000⌋ = 1.
      admits(0, 1, { remaining: 1, resetMs: 60_000, effectiveMs: 60_000 }),
    ],
  },
  {
    name: 'the clock steps back within a window: the previous one weighs more again',
    params: threeASecond,
    steps: [
      admits(0, 3, { remaining: 0, resetMs: 1666, effectiveMs: 1000 }),
      // ⌊3 · 299/1000⌋ = 0
      admits(1700, 1, { remaining: 2, resetMs: 300, effectiveMs: 300 }),
      // ⌊3 · 499/1000⌋ = 1
      admits(1500, 1, { remaining: 0, resetMs: 1000, effectiveMs: 166 }),
      refuses(1665, 1, { remaining: 0, resetMs: 835, retryAfterMs: 1 }),
      admits(1666, 1, { remaining: 0, resetMs: 1000, effectiveMs: 334 }),
    ],
  },
  {
    name: 'the clock steps forward an hour: one full quota',
    params: threeAMinute,
    steps: [
      admits(0, 2, { remaining: 1, resetMs: 90_000, effectiveMs: 60_000 }),
      admits(HOUR, 3, { remaining: 0, resetMs: 100_000, effectiveMs: 60_000 }),
      refuses(HOUR, 1, { remaining: 0, resetMs: 100_000, retryAfterMs: 60_000 }),
    ],
  },
  {
    name: 'limit 1: a unit a window, however late in the one before',
    params: { limit: 1, windowMs: 1000 },
    steps: [
      admits(999, 1, { remaining: 0, resetMs: 1, effectiveMs: 1 }),
      refuses(999, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(1000, 1, { remaining: 0, resetMs: 1000, effectiveMs: 1000 }),
      refuses(1999, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(2000, 1, { remaining: 0, resetMs: 1000, effectiveMs: 1000 }),
    ],
  },
  {
    name: 'limit 0 never admits',
    params: { limit: 0, windowMs: 1000 },
    steps: [
      refuses(0, 1, { remaining: 0, resetMs: 0, retryAfterMs: Infinity }),
      refuses(0, 0, { remaining: 0, resetMs: 0, retryAfterMs: Infinity }),
    ],
  },
  {
    name: '7 in 60 s',
    params: { limit: 7, windowMs: 60_000 },
    steps: [
      admits(59_999, 7, { remaining: 0, resetMs: 51_429, effectiveMs: 1 }),
      // ⌊7 · 59999/60000⌋ = 6; the next when 7·inside/60000 < 6: inside = 51428, elapsed = 8571
      admits(60_000, 1, { remaining: 0, resetMs: 60_000, effectiveMs: 8571 }),
      refuses(68_570, 1, { remaining: 0, resetMs: 51_430, retryAfterMs: 1 }),
      // 7·inside/60000 < 5: inside = 42857, elapsed = 17142
      admits(68_571, 1, { remaining: 0, resetMs: 81_429, effectiveMs: 8571 }),
    ],
  },
  {
    name: 'a window of 1 ms: nothing of the previous one is inside',
    params: { limit: 2, windowMs: 1 },
    steps: [
      admits(0, 2, { remaining: 0, resetMs: 1, effectiveMs: 1 }),
      refuses(0, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(1, 2, { remaining: 0, resetMs: 1, effectiveMs: 1 }),
    ],
  },
  {
    name: '10^7 in a month: ticks of 745.9 ms',
    params: { limit: 1e7, windowMs: MONTH },
    from: 694 * MONTH,
    steps: [
      // ⌊(2^53 − 1) / MONTH⌋ = 3474999 ticks
      admits(0, 1e7, { remaining: 0, resetMs: 5_183_999_254, effectiveMs: 2_592_000_000 }),
      refuses(MONTH - 1, 1, { remaining: 0, resetMs: 2_591_999_255, retryAfterMs: 1 }),
      // All but a tick is inside, which has freed 10^7 / 3474999 = 2.88 units: 3 rounded up.
      admits(MONTH, 2, { remaining: 1, resetMs: 3_887_999_627, effectiveMs: 2_592_000_000 }),
      admits(MONTH, 1, { remaining: 0, resetMs: 4_320_000_000, effectiveMs: 745 }),
      // The second tick frees 5.76; it is over 745.9 ms into the window, less the 1 ms of now.
      refuses(MONTH + 744, 1, { remaining: 0, resetMs: 4_319_999_256, retryAfterMs: 1 }),
      admits(MONTH + 745, 3, { remaining: 0, resetMs: 4_751_998_882, effectiveMs: 746 }),
    ],
  },
  {
    name: '10^9 in a year: ticks of 110565.5 ms',
    params: { limit: 1e9, windowMs: YEAR },
    from: 57 * YEAR,
    steps: [
      // ⌊(2^53 − 1) / YEAR⌋ = 285420 ticks; one frees 10^9 / 285420 = 3503.6 units
      admits(0, 1e9, { remaining: 0, resetMs: 63_115_089_434, effectiveMs: 31_557_600_000 }),
      admits(YEAR, 3504, { remaining: 0, resetMs: 63_106_133_630, effectiveMs: 110_565 }),
      refuses(YEAR + 110_564, 1, { remaining: 0, resetMs: 63_106_023_066, retryAfterMs: 1 }),
      // Two free 7007.2.
      admits(YEAR + 110_565, 3504, { remaining: 0, resetMs: 63_110_556_250, effectiveMs: 110_565 }),
    ],
  },
  {
    name: '10^12 in ten years: ticks of 35036749.2 ms',
    params: { limit: 1e12, windowMs: TEN_YEARS },
    from: 5 * TEN_YEARS,
    steps: [
      // ⌊(2^53 − 1) / 10^12⌋ = 9007 ticks; one frees 10^12 / 9007 = 111024758.5 units
      admits(0, 1e12, { remaining: 0, resetMs: 631_116_963_250, effectiveMs: 315_576_000_000 }),
      admits(TEN_YEARS, 111_024_759, {
        remaining: 0,
        resetMs: 631_116_963_250,
        effectiveMs: 35_036_749,
      }),
      refuses(TEN_YEARS + 35_036_748, 1, {
        remaining: 0,
        resetMs: 631_081_926_502,
        retryAfterMs: 1,
      }),
      admits(TEN_YEARS + 35_036_749, 1, {
        remaining: 111_024_758,
        resetMs: 631_081_926_501,
        effectiveMs: 315_540_963_251,
      }),
    ],
  },
  {
    name: 'settle gives back, in this window and in the previous one',
    params: threeASecond,
    steps: [
      admits(0, 3, { remaining: 0, resetMs: 1666, effectiveMs: 1000 }),
      settles(500, { delta: -2, chargedAt: 0 }, { remaining: 2, resetMs: 500 }),
      admits(500, 2, { remaining: 0, resetMs: 1166, effectiveMs: 500 }),
      settles(1000, { delta: -1, chargedAt: 500 }, { remaining: 2, resetMs: 500 }),
      settles(1000, { delta: -9, chargedAt: 999 }, { remaining: 3, resetMs: 0 }),
      admits(1000, 3, { remaining: 0, resetMs: 1666, effectiveMs: 1000 }),
    ],
  },
  {
    name: 'settle charges more, into a debt that fades with its window',
    params: threeASecond,
    steps: [
      admits(0, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      settles(0, { delta: 4, chargedAt: 0 }, { remaining: 0, resetMs: 1800 }),
      // 5·inside/1000 < 3: inside = 599, 400 ms into the next window
      refuses(0, 1, { remaining: 0, resetMs: 1800, retryAfterMs: 1400 }),
      refuses(1000, 1, { remaining: 0, resetMs: 800, retryAfterMs: 400 }),
      // ⌊5 · 399/1000⌋ = 1
      admits(1600, 1, { remaining: 1, resetMs: 400, effectiveMs: 400 }),
      settles(1600, { delta: 2, chargedAt: 999 }, { remaining: 0, resetMs: 400 }),
      // 6·inside/1000 < 2: inside = 333
      refuses(1600, 1, { remaining: 0, resetMs: 400, retryAfterMs: 114 }),
    ],
  },
  {
    name: 'settle changes nothing once the window is no longer inside',
    params: threeASecond,
    steps: [
      admits(999, 2, { remaining: 1, resetMs: 501, effectiveMs: 1 }),
      admits(2000, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      settles(2000, { delta: -1, chargedAt: 999 }, { remaining: 2, resetMs: 1000 }),
      settles(2000, { delta: 1, chargedAt: 999 }, { remaining: 2, resetMs: 1000 }),
      settles(4000, { delta: 5, chargedAt: 2000 }, { remaining: 3, resetMs: 0 }),
    ],
  },
  {
    name: 'what has faded in the previous window counts again when more is charged to it',
    params: threeASecond,
    steps: [
      admits(0, 3, { remaining: 0, resetMs: 1666, effectiveMs: 1000 }),
      // ⌊3 · 299/1000⌋ = 0
      settles(1700, { delta: 0, chargedAt: 1700 }, { remaining: 3, resetMs: 0 }),
      // ⌊4 · 299/1000⌋ = 1
      settles(1700, { delta: 1, chargedAt: 0 }, { remaining: 2, resetMs: 50 }),
    ],
  },
]
