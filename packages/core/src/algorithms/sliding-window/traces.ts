import { admits, HOUR, MONTH, refuses, settles, type Trace, traces } from '../testing/trace.ts'

// `elapsed` ms into a window, with `previous` units charged in the one before and `current` in it:
// left = limit − current − ⌊previous · inside / window⌋, inside = window − 1 − elapsed. The quota is
// full again when that share is 0, in the next window if anything is charged in this one. While
// units remain the effective window ends with this one; else it ends with one unit's return.
const threeASecond = { limit: 3, windowMs: 1000 }
const threeAMinute = { limit: 3, windowMs: 60_000 }
const tenMillionAMonth = { limit: 1e7, windowMs: MONTH, from: 694 * MONTH }

export const slidingWindowTraces: readonly Trace[] = [
  ...traces(threeASecond, {
    'admits 2·limit in a span as long as a window in the worst case': [
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
    'a refused large cost leaves room for a small one': [
      refuses(0, 4, { remaining: 3, resetMs: 0, retryAfterMs: Infinity }),
      admits(0, 2, { remaining: 1, resetMs: 1500, effectiveMs: 1000 }),
      // ⌊2 · 999/1000⌋ = 1: two fit as the next window begins.
      refuses(0, 2, { remaining: 1, resetMs: 1500, retryAfterMs: 1000 }),
      // Three fit when 2·inside/1000 < 1: inside = 499, 500 ms into it.
      refuses(0, 3, { remaining: 1, resetMs: 1500, retryAfterMs: 1500 }),
      refuses(0, Number.MAX_SAFE_INTEGER, { remaining: 1, resetMs: 1500, retryAfterMs: Infinity }),
      admits(0, 1, { remaining: 0, resetMs: 1666, effectiveMs: 1000 }),
    ],
    'cost 0 passes while a unit remains': [
      admits(0, 0, { remaining: 3, resetMs: 0, effectiveMs: 1000 }),
      admits(0, 3, { remaining: 0, resetMs: 1666, effectiveMs: 1000 }),
      refuses(0, 0, { remaining: 0, resetMs: 1666, retryAfterMs: 1000 }),
      refuses(999, 0, { remaining: 0, resetMs: 667, retryAfterMs: 1 }),
      admits(1000, 0, { remaining: 1, resetMs: 666, effectiveMs: 1000 }),
    ],
    'settle charges more, into a debt that fades with its window': [
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
    'what has faded in the previous window counts again when more is charged to it': [
      admits(0, 3, { remaining: 0, resetMs: 1666, effectiveMs: 1000 }),
      // ⌊3 · 299/1000⌋ = 0
      settles(1700, { delta: 0, chargedAt: 1700 }, { remaining: 3, resetMs: 0 }),
      // ⌊4 · 299/1000⌋ = 1
      settles(1700, { delta: 1, chargedAt: 0 }, { remaining: 2, resetMs: 50 }),
    ],
  }),
  ...traces(threeAMinute, {
    'the clock steps back an hour: all counts as the previous window, gone within one': [
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
  }),
  ...traces(tenMillionAMonth, {
    '10^7 in a month: ticks of 745.9 ms': [
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
  }),
]
