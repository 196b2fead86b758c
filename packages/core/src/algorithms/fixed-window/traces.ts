import { admits, HOUR, refuses, settles, TEN_YEARS, type Trace, traces } from '../testing/trace.ts'

// A window begins at every multiple of its length. What is left is limit − used; while anything is
// used the quota is full again, and a refusal or the last unit ends, when the window does.
const MOST = Number.MAX_SAFE_INTEGER
const threeASecond = { limit: 3, windowMs: 1000 }
const threeAMinute = { limit: 3, windowMs: 60_000 }
const most = { limit: MOST, windowMs: TEN_YEARS, from: 5 * TEN_YEARS }

export const fixedWindowTraces: readonly Trace[] = [
  ...traces(threeASecond, {
    'counts to the limit, refuses one over, starts again with the next window': [
      admits(0, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      admits(1, 1, { remaining: 1, resetMs: 999, effectiveMs: 999 }),
      admits(998, 1, { remaining: 0, resetMs: 2, effectiveMs: 2 }),
      refuses(998, 1, { remaining: 0, resetMs: 2, retryAfterMs: 2 }),
      refuses(999, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(1000, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
    ],
    'admits twice the limit across an edge, and no more': [
      admits(999, 3, { remaining: 0, resetMs: 1, effectiveMs: 1 }),
      admits(1000, 3, { remaining: 0, resetMs: 1000, effectiveMs: 1000 }),
      refuses(1001, 1, { remaining: 0, resetMs: 999, retryAfterMs: 999 }),
      refuses(1999, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(2000, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
    ],
    'a refused large cost leaves room for a small one': [
      refuses(0, 4, { remaining: 3, resetMs: 0, retryAfterMs: Infinity }),
      admits(0, 2, { remaining: 1, resetMs: 1000, effectiveMs: 1000 }),
      refuses(500, 2, { remaining: 1, resetMs: 500, retryAfterMs: 500 }),
      refuses(500, Number.MAX_SAFE_INTEGER, { remaining: 1, resetMs: 500, retryAfterMs: Infinity }),
      admits(500, 1, { remaining: 0, resetMs: 500, effectiveMs: 500 }),
    ],
    'cost 0 passes while a unit remains': [
      admits(0, 0, { remaining: 3, resetMs: 0, effectiveMs: 1000 }),
      admits(0, 3, { remaining: 0, resetMs: 1000, effectiveMs: 1000 }),
      refuses(0, 0, { remaining: 0, resetMs: 1000, retryAfterMs: 1000 }),
      admits(1000, 0, { remaining: 3, resetMs: 0, effectiveMs: 1000 }),
    ],
    'settle charges more, into a debt that ends with the window': [
      admits(0, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      settles(300, { delta: 4, chargedAt: 0 }, { remaining: 0, resetMs: 700 }),
      refuses(300, 1, { remaining: 0, resetMs: 700, retryAfterMs: 700 }),
      // 5 − 2 = 3 are used
      settles(300, { delta: -2, chargedAt: 0 }, { remaining: 0, resetMs: 700 }),
      settles(300, { delta: -1, chargedAt: 0 }, { remaining: 1, resetMs: 700 }),
      admits(1000, 3, { remaining: 0, resetMs: 1000, effectiveMs: 1000 }),
    ],
    'settle changes nothing once the window has gone': [
      admits(999, 1, { remaining: 2, resetMs: 1, effectiveMs: 1 }),
      admits(1000, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      settles(1000, { delta: -1, chargedAt: 999 }, { remaining: 2, resetMs: 1000 }),
      settles(1000, { delta: 1, chargedAt: 999 }, { remaining: 2, resetMs: 1000 }),
      settles(2000, { delta: 5, chargedAt: 1000 }, { remaining: 3, resetMs: 0 }),
    ],
  }),
  ...traces(threeAMinute, {
    'the clock steps back an hour: what was counted counts in the window it is then': [
      admits(0, 3, { remaining: 0, resetMs: 60_000, effectiveMs: 60_000 }),
      refuses(-HOUR, 1, { remaining: 0, resetMs: 60_000, retryAfterMs: 60_000 }),
      refuses(-HOUR + 59_999, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(-HOUR + 60_000, 1, { remaining: 2, resetMs: 60_000, effectiveMs: 60_000 }),
      // And forward again: one full quota.
      admits(0, 3, { remaining: 0, resetMs: 60_000, effectiveMs: 60_000 }),
      refuses(0, 1, { remaining: 0, resetMs: 60_000, retryAfterMs: 60_000 }),
    ],
  }),
  ...traces(most, {
    '2^53 − 1, to the last unit': [
      admits(0, MOST - 2, { remaining: 2, resetMs: TEN_YEARS, effectiveMs: TEN_YEARS }),
      admits(0, 1, { remaining: 1, resetMs: TEN_YEARS, effectiveMs: TEN_YEARS }),
      refuses(0, 2, { remaining: 1, resetMs: TEN_YEARS, retryAfterMs: TEN_YEARS }),
      refuses(0, MOST, { remaining: 1, resetMs: TEN_YEARS, retryAfterMs: TEN_YEARS }),
      admits(0, 1, { remaining: 0, resetMs: TEN_YEARS, effectiveMs: TEN_YEARS }),
      settles(0, { delta: -1, chargedAt: 0 }, { remaining: 1, resetMs: TEN_YEARS }),
      settles(0, { delta: 1, chargedAt: 0 }, { remaining: 0, resetMs: TEN_YEARS }),
      // A debt ends at 2^53 − 1.
      settles(0, { delta: MOST, chargedAt: 0 }, { remaining: 0, resetMs: TEN_YEARS }),
      settles(0, { delta: 3 - MOST, chargedAt: 0 }, { remaining: MOST - 3, resetMs: TEN_YEARS }),
      settles(0, { delta: -MOST, chargedAt: 0 }, { remaining: MOST, resetMs: 0 }),
      admits(TEN_YEARS, MOST, { remaining: 0, resetMs: TEN_YEARS, effectiveMs: TEN_YEARS }),
    ],
  }),
]
