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
// left = limit − current − ⌈previous · (window − elapsed) / window⌉. The quota is whole again at
// the end of the next window (2·window − elapsed) if anything is charged in this one, else of this.
// While units remain the effective window ends with this one; else it ends with one unit's return.
const threeASecond = { limit: 3, windowMs: 1000 }
const threeAMinute = { limit: 3, windowMs: 60_000 }

export const slidingWindowTraces: readonly Trace[] = [
  {
    name: 'counts to the limit and refuses one over',
    terms: threeASecond,
    steps: [
      admits(0, 1, { remaining: 2, resetMs: 2000, waitMs: 1000 }),
      admits(500, 1, { remaining: 1, resetMs: 1500, waitMs: 500 }),
      // In the next window 3·inside/1000 ≤ 2 from inside = 666 on, 334 ms after it begins.
      admits(998, 1, { remaining: 0, resetMs: 1002, waitMs: 336 }),
      refuses(998, 1, { remaining: 0, resetMs: 1002, waitMs: 336 }),
      refuses(999, 1, { remaining: 0, resetMs: 1001, waitMs: 335 }),
      refuses(1000, 1, { remaining: 0, resetMs: 1000, waitMs: 334 }),
    ],
  },
  {
    name: 'admits 2·limit − 1 in one window in the worst case',
    terms: threeASecond,
    steps: [
      admits(999, 3, { remaining: 0, resetMs: 1001, waitMs: 335 }),
      // ⌈3 · 667/1000⌉ = ⌈2.001⌉
      refuses(1333, 1, { remaining: 0, resetMs: 667, waitMs: 1 }),
      // ⌈3 · 666/1000⌉ = 2; the next unit when 3·inside/1000 ≤ 1: inside = 333, elapsed = 667
      admits(1334, 1, { remaining: 0, resetMs: 1666, waitMs: 333 }),
      refuses(1666, 1, { remaining: 0, resetMs: 1334, waitMs: 1 }),
      // ⌈3 · 333/1000⌉ = 1: the fifth since 999; the next when nothing of the three is inside
      admits(1667, 1, { remaining: 0, resetMs: 1333, waitMs: 333 }),
      refuses(1999, 1, { remaining: 0, resetMs: 1001, waitMs: 1 }),
      // previous = 2: one remains, the next at 2·inside/1000 ≤ 1
      admits(2000, 1, { remaining: 0, resetMs: 2000, waitMs: 500 }),
    ],
  },
  {
    name: 'a refused large cost leaves room for a small one',
    terms: threeASecond,
    steps: [
      refuses(0, 4, { remaining: 3, resetMs: 0, waitMs: Infinity }),
      admits(0, 2, { remaining: 1, resetMs: 2000, waitMs: 1000 }),
      // Two fit when 2·inside/1000 ≤ 1: 500 ms into the next window.
      refuses(0, 2, { remaining: 1, resetMs: 2000, waitMs: 1500 }),
      // Three fit when nothing of the two is inside any more.
      refuses(0, 3, { remaining: 1, resetMs: 2000, waitMs: 2000 }),
      refuses(0, Number.MAX_SAFE_INTEGER, { remaining: 1, resetMs: 2000, waitMs: Infinity }),
      admits(0, 1, { remaining: 0, resetMs: 2000, waitMs: 1334 }),
    ],
  },
  {
    name: 'cost 0 passes while a unit remains',
    terms: threeASecond,
    steps: [
      admits(0, 0, { remaining: 3, resetMs: 0, waitMs: 1000 }),
      admits(0, 3, { remaining: 0, resetMs: 2000, waitMs: 1334 }),
      refuses(0, 0, { remaining: 0, resetMs: 2000, waitMs: 1334 }),
      refuses(1333, 0, { remaining: 0, resetMs: 667, waitMs: 1 }),
      admits(1334, 0, { remaining: 1, resetMs: 666, waitMs: 666 }),
    ],
  },
  {
    name: 'both counts are gone when two windows are',
    terms: threeASecond,
    steps: [
      admits(999, 3, { remaining: 0, resetMs: 1001, waitMs: 335 }),
      admits(1999, 0, { remaining: 2, resetMs: 1, waitMs: 1 }),
      admits(2000, 3, { remaining: 0, resetMs: 2000, waitMs: 1334 }),
    ],
  },
  {
    name: 'the clock steps back an hour: all counts as the previous window, gone within one',
    terms: threeAMinute,
    steps: [
      // 3·inside/60000 ≤ 2 from 20 s into the next window on
      admits(0, 3, { remaining: 0, resetMs: 120_000, waitMs: 80_000 }),
      refuses(-HOUR, 1, { remaining: 0, resetMs: 60_000, waitMs: 20_000 }),
      refuses(-HOUR + 19_999, 1, { remaining: 0, resetMs: 40_001, waitMs: 1 }),
      admits(-HOUR + 20_000, 1, { remaining: 0, resetMs: 100_000, waitMs: 20_000 }),
      admits(-HOUR + 60_000, 2, { remaining: 0, resetMs: 120_000, waitMs: 60_000 }),
      // And forward again: one full quota.
      admits(0, 3, { remaining: 0, resetMs: 120_000, waitMs: 80_000 }),
      refuses(0, 1, { remaining: 0, resetMs: 120_000, waitMs: 80_000 }),
    ],
  },
  {
    name: 'the clock steps back an hour: both counts count, as one',
    terms: threeASecond,
    steps: [
      admits(999, 2, { remaining: 1, resetMs: 1001, waitMs: 1 }),
      // ⌈2 · 500/1000⌉ = 1
      admits(1500, 1, { remaining: 1, resetMs: 1500, waitMs: 500 }),
      refuses(-HOUR, 1, { remaining: 0, resetMs: 1000, waitMs: 334 }),
      admits(-HOUR + 334, 1, { remaining: 0, resetMs: 1666, waitMs: 333 }),
    ],
  },
  {
    name: 'the clock steps back 1 ms over an edge: all but the whole of it is forgiven',
    terms: threeAMinute,
    steps: [
      admits(0, 3, { remaining: 0, resetMs: 120_000, waitMs: 80_000 }),
      // ⌈3 · 1/60000⌉ = 1
      admits(-1, 2, { remaining: 0, resetMs: 60_001, waitMs: 1 }),
      // Two count as the previous window's; the next unit at 2·inside/60000 ≤ 1.
      admits(0, 1, { remaining: 0, resetMs: 120_000, waitMs: 30_000 }),
    ],
  },
  {
    name: 'the clock steps back within a window: the previous one weighs more again',
    terms: threeASecond,
    steps: [
      admits(0, 3, { remaining: 0, resetMs: 2000, waitMs: 1334 }),
      admits(1700, 1, { remaining: 1, resetMs: 1300, waitMs: 300 }),
      refuses(1500, 1, { remaining: 0, resetMs: 1500, waitMs: 167 }),
      admits(1667, 1, { remaining: 0, resetMs: 1333, waitMs: 333 }),
    ],
  },
  {
    name: 'the clock steps forward an hour: one full quota',
    terms: threeAMinute,
    steps: [
      admits(0, 2, { remaining: 1, resetMs: 120_000, waitMs: 60_000 }),
      admits(HOUR, 3, { remaining: 0, resetMs: 120_000, waitMs: 80_000 }),
      refuses(HOUR, 1, { remaining: 0, resetMs: 120_000, waitMs: 80_000 }),
    ],
  },
  {
    name: 'limit 1: the unit must have left altogether',
    terms: { limit: 1, windowMs: 1000 },
    steps: [
      admits(999, 1, { remaining: 0, resetMs: 1001, waitMs: 1001 }),
      refuses(1000, 1, { remaining: 0, resetMs: 1000, waitMs: 1000 }),
      refuses(1999, 1, { remaining: 0, resetMs: 1, waitMs: 1 }),
      admits(2000, 1, { remaining: 0, resetMs: 2000, waitMs: 2000 }),
    ],
  },
  {
    name: 'limit 0 never admits',
    terms: { limit: 0, windowMs: 1000 },
    steps: [
      refuses(0, 1, { remaining: 0, resetMs: 0, waitMs: Infinity }),
      refuses(0, 0, { remaining: 0, resetMs: 0, waitMs: Infinity }),
    ],
  },
  {
    name: '7 in 60 s',
    terms: { limit: 7, windowMs: 60_000 },
    steps: [
      // 7·inside/60000 ≤ 6: inside = ⌊360000/7⌋ = 51428, elapsed = 8572
      admits(59_999, 7, { remaining: 0, resetMs: 60_001, waitMs: 8573 }),
      refuses(68_571, 1, { remaining: 0, resetMs: 51_429, waitMs: 1 }),
      // 7·inside/60000 ≤ 5: inside = 42857, elapsed = 17143
      admits(68_572, 1, { remaining: 0, resetMs: 111_428, waitMs: 8571 }),
    ],
  },
  {
    name: 'a window of 1 ms: all of the previous one is inside, then nothing',
    terms: { limit: 2, windowMs: 1 },
    steps: [
      admits(0, 2, { remaining: 0, resetMs: 2, waitMs: 2 }),
      refuses(0, 1, { remaining: 0, resetMs: 2, waitMs: 2 }),
      refuses(1, 1, { remaining: 0, resetMs: 1, waitMs: 1 }),
      admits(2, 2, { remaining: 0, resetMs: 2, waitMs: 2 }),
    ],
  },
  {
    name: '10^7 in a month: ticks of 745.9 ms',
    terms: { limit: 1e7, windowMs: MONTH },
    from: 694 * MONTH,
    steps: [
      // ⌊(2^53 − 1) / MONTH⌋ = 3474999 ticks. The first unit is back a tick into the next window:
      // ⌈MONTH / 3474999⌉ = 746 ms.
      admits(0, 1e7, { remaining: 0, resetMs: 2 * MONTH, waitMs: MONTH + 746 }),
      refuses(MONTH + 745, 1, { remaining: 0, resetMs: MONTH - 745, waitMs: 1 }),
      // A tick frees 10^7 / 3474999 = 2.88 units; 3 more need the second one, at ⌈1491.8⌉.
      admits(MONTH + 746, 2, { remaining: 0, resetMs: 2 * MONTH - 746, waitMs: 746 }),
      refuses(MONTH + 1491, 1, { remaining: 0, resetMs: 2 * MONTH - 1491, waitMs: 1 }),
      // 5.76 − 2 = 3.76
      admits(MONTH + 1492, 3, { remaining: 0, resetMs: 2 * MONTH - 1492, waitMs: 746 }),
    ],
  },
  {
    name: '10^9 in a year: ticks of 110565.5 ms',
    terms: { limit: 1e9, windowMs: YEAR },
    from: 57 * YEAR,
    steps: [
      // ⌊(2^53 − 1) / YEAR⌋ = 285420 ticks, ⌈YEAR / 285420⌉ = 110566 ms
      admits(0, 1e9, { remaining: 0, resetMs: 2 * YEAR, waitMs: YEAR + 110_566 }),
      refuses(YEAR + 110_565, 1, { remaining: 0, resetMs: YEAR - 110_565, waitMs: 1 }),
      // 10^9 / 285420 = 3503.6; one more needs the second tick, at ⌈221130.96⌉
      admits(YEAR + 110_566, 3503, {
        remaining: 0,
        resetMs: 2 * YEAR - 110_566,
        waitMs: 110_565,
      }),
    ],
  },
  {
    name: '10^12 in ten years: ticks of 35036749.2 ms',
    terms: { limit: 1e12, windowMs: TEN_YEARS },
    from: 5 * TEN_YEARS,
    steps: [
      // ⌊(2^53 − 1) / 10^12⌋ = 9007 ticks, ⌈TEN_YEARS / 9007⌉ = 35036750 ms
      admits(0, 1e12, { remaining: 0, resetMs: 2 * TEN_YEARS, waitMs: TEN_YEARS + 35_036_750 }),
      refuses(TEN_YEARS + 35_036_749, 1, {
        remaining: 0,
        resetMs: TEN_YEARS - 35_036_749,
        waitMs: 1,
      }),
      // 10^12 / 9007 = 111024758.5; one more needs the second tick, at ⌈70073498.4⌉
      admits(TEN_YEARS + 35_036_750, 111_024_758, {
        remaining: 0,
        resetMs: 2 * TEN_YEARS - 35_036_750,
        waitMs: 35_036_749,
      }),
    ],
  },
  {
    name: 'settle gives back, in this window and in the previous one',
    terms: threeASecond,
    steps: [
      admits(0, 3, { remaining: 0, resetMs: 2000, waitMs: 1334 }),
      settles(500, { delta: -2, chargedAt: 0 }, { remaining: 2, resetMs: 1500 }),
      admits(500, 2, { remaining: 0, resetMs: 1500, waitMs: 834 }),
      settles(1000, { delta: -1, chargedAt: 500 }, { remaining: 1, resetMs: 1000 }),
      settles(1000, { delta: -9, chargedAt: 999 }, { remaining: 3, resetMs: 0 }),
      admits(1000, 3, { remaining: 0, resetMs: 2000, waitMs: 1334 }),
    ],
  },
  {
    name: 'settle charges more, into a debt that fades with its window',
    terms: threeASecond,
    steps: [
      admits(0, 1, { remaining: 2, resetMs: 2000, waitMs: 1000 }),
      settles(0, { delta: 4, chargedAt: 0 }, { remaining: 0, resetMs: 2000 }),
      // 5·inside/1000 ≤ 2: 600 ms into the next window
      refuses(0, 1, { remaining: 0, resetMs: 2000, waitMs: 1600 }),
      refuses(1000, 1, { remaining: 0, resetMs: 1000, waitMs: 600 }),
      // 5·inside/1000 ≤ 1 at 800
      admits(1600, 1, { remaining: 0, resetMs: 1400, waitMs: 200 }),
      settles(1600, { delta: 1, chargedAt: 999 }, { remaining: 0, resetMs: 1400 }),
      // 6·inside/1000 ≤ 1: inside = 166
      refuses(1600, 1, { remaining: 0, resetMs: 1400, waitMs: 234 }),
    ],
  },
  {
    name: 'settle changes nothing once the window is no longer inside',
    terms: threeASecond,
    steps: [
      admits(999, 2, { remaining: 1, resetMs: 1001, waitMs: 1 }),
      admits(2000, 1, { remaining: 2, resetMs: 2000, waitMs: 1000 }),
      settles(2000, { delta: -1, chargedAt: 999 }, { remaining: 2, resetMs: 2000 }),
      settles(2000, { delta: 1, chargedAt: 999 }, { remaining: 2, resetMs: 2000 }),
      settles(4000, { delta: 5, chargedAt: 2000 }, { remaining: 3, resetMs: 0 }),
    ],
  },
]
