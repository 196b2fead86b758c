import { admits, HOUR, refuses, settles, type Trace, traces } from '../testing/trace.ts'

// Counted is what was admitted in (now − window, now]: a unit of time t is back at t + window, to
// the ms. The quota is full when the newest is back. The effective window ends when the oldest is
// back; or, with nothing left, with the first whose return leaves a unit.
const threeASecond = { limit: 3, windowMs: 1000 }
const threeAMinute = { limit: 3, windowMs: 60_000 }
const twentyFourASecond = { limit: 24, windowMs: 1000 }

export const slidingLogTraces: readonly Trace[] = [
  ...traces(threeASecond, {
    'counts to the limit, refuses one over, and every unit comes back after a window': [
      admits(0, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      admits(400, 1, { remaining: 1, resetMs: 1000, effectiveMs: 600 }),
      admits(999, 1, { remaining: 0, resetMs: 1000, effectiveMs: 1 }),
      refuses(999, 1, { remaining: 0, resetMs: 1000, retryAfterMs: 1 }),
      admits(1000, 1, { remaining: 0, resetMs: 1000, effectiveMs: 400 }),
      refuses(1000, 1, { remaining: 0, resetMs: 1000, retryAfterMs: 400 }),
      refuses(1399, 1, { remaining: 0, resetMs: 601, retryAfterMs: 1 }),
      admits(1400, 1, { remaining: 0, resetMs: 1000, effectiveMs: 599 }),
    ],
    'several in one millisecond count each': [
      admits(0, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      admits(0, 1, { remaining: 1, resetMs: 1000, effectiveMs: 1000 }),
      admits(0, 1, { remaining: 0, resetMs: 1000, effectiveMs: 1000 }),
      refuses(0, 1, { remaining: 0, resetMs: 1000, retryAfterMs: 1000 }),
      refuses(999, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(1000, 3, { remaining: 0, resetMs: 1000, effectiveMs: 1000 }),
    ],
    'a refused large cost leaves room for a small one': [
      refuses(0, 4, { remaining: 3, resetMs: 0, retryAfterMs: Infinity }),
      admits(0, 2, { remaining: 1, resetMs: 1000, effectiveMs: 1000 }),
      refuses(100, 2, { remaining: 1, resetMs: 900, retryAfterMs: 900 }),
      refuses(100, Number.MAX_SAFE_INTEGER, { remaining: 1, resetMs: 900, retryAfterMs: Infinity }),
      admits(100, 1, { remaining: 0, resetMs: 1000, effectiveMs: 900 }),
      // Two are back when the first entry is, three when the second is too.
      refuses(100, 2, { remaining: 0, resetMs: 1000, retryAfterMs: 900 }),
      refuses(100, 3, { remaining: 0, resetMs: 1000, retryAfterMs: 1000 }),
    ],
    'cost 0 passes while a unit remains': [
      admits(0, 0, { remaining: 3, resetMs: 0, effectiveMs: 1000 }),
      admits(0, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      admits(300, 0, { remaining: 2, resetMs: 700, effectiveMs: 700 }),
      admits(300, 2, { remaining: 0, resetMs: 1000, effectiveMs: 700 }),
      refuses(300, 0, { remaining: 0, resetMs: 1000, retryAfterMs: 700 }),
      refuses(999, 0, { remaining: 0, resetMs: 301, retryAfterMs: 1 }),
      admits(1000, 0, { remaining: 1, resetMs: 300, effectiveMs: 300 }),
    ],
    'settle gives back, at most down to a full quota': [
      admits(0, 2, { remaining: 1, resetMs: 1000, effectiveMs: 1000 }),
      admits(100, 1, { remaining: 0, resetMs: 1000, effectiveMs: 900 }),
      settles(200, { delta: -1, chargedAt: 0 }, { remaining: 1, resetMs: 900 }),
      admits(200, 1, { remaining: 0, resetMs: 1000, effectiveMs: 800 }),
      // One each of 0 and 200 are left.
      settles(200, { delta: -1, chargedAt: 100 }, { remaining: 1, resetMs: 1000 }),
      admits(1000, 1, { remaining: 1, resetMs: 1000, effectiveMs: 200 }),
      settles(1000, { delta: -1, chargedAt: 1000 }, { remaining: 2, resetMs: 200 }),
      settles(1000, { delta: -9, chargedAt: 1000 }, { remaining: 3, resetMs: 0 }),
      admits(1000, 3, { remaining: 0, resetMs: 1000, effectiveMs: 1000 }),
    ],
    'settle charges more at the moment of the charge': [
      admits(0, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      admits(500, 1, { remaining: 1, resetMs: 1000, effectiveMs: 500 }),
      settles(600, { delta: 1, chargedAt: 300 }, { remaining: 0, resetMs: 900 }),
      refuses(600, 1, { remaining: 0, resetMs: 900, retryAfterMs: 400 }),
      admits(1000, 1, { remaining: 0, resetMs: 1000, effectiveMs: 300 }),
      admits(1300, 1, { remaining: 0, resetMs: 1000, effectiveMs: 200 }),
    ],
    'settle charges more, into a debt that must come back first': [
      admits(0, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      admits(200, 1, { remaining: 1, resetMs: 1000, effectiveMs: 800 }),
      settles(200, { delta: 4, chargedAt: 200 }, { remaining: 0, resetMs: 1000 }),
      // Six are counted: the one of 0 does not suffice, the five of 200 do.
      refuses(300, 1, { remaining: 0, resetMs: 900, retryAfterMs: 900 }),
      refuses(1199, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(1200, 3, { remaining: 0, resetMs: 1000, effectiveMs: 1000 }),
    ],
    'settle changes nothing once the charge has left the window': [
      admits(0, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      admits(1000, 1, { remaining: 2, resetMs: 1000, effectiveMs: 1000 }),
      settles(1000, { delta: -1, chargedAt: 0 }, { remaining: 2, resetMs: 1000 }),
      settles(1000, { delta: 1, chargedAt: 0 }, { remaining: 2, resetMs: 1000 }),
      settles(2000, { delta: 5, chargedAt: 1000 }, { remaining: 3, resetMs: 0 }),
    ],
  }),
  ...traces(twentyFourASecond, {
    'any cost waits for the entry with which so many are back, however far behind that is': [
      ...Array.from({ length: 24 }, (_, i) =>
        admits(i, 1, { remaining: 23 - i, resetMs: 1000, effectiveMs: 1000 - i }),
      ),
      ...Array.from({ length: 24 }, (_, i) =>
        refuses(100, i + 1, { remaining: 0, resetMs: 923, retryAfterMs: 900 + i }),
      ),
    ],
  }),
  ...traces(threeAMinute, {
    'the clock steps back an hour: what was counted counts as of then': [
      admits(0, 2, { remaining: 1, resetMs: 60_000, effectiveMs: 60_000 }),
      admits(10, 1, { remaining: 0, resetMs: 60_000, effectiveMs: 59_990 }),
      refuses(-HOUR, 1, { remaining: 0, resetMs: 60_000, retryAfterMs: 60_000 }),
      refuses(-HOUR + 59_999, 1, { remaining: 0, resetMs: 1, retryAfterMs: 1 }),
      admits(-HOUR + 60_000, 3, { remaining: 0, resetMs: 60_000, effectiveMs: 60_000 }),
      // And forward again: one full quota.
      admits(0, 3, { remaining: 0, resetMs: 60_000, effectiveMs: 60_000 }),
      refuses(0, 1, { remaining: 0, resetMs: 60_000, retryAfterMs: 60_000 }),
    ],
  }),
]
