import { admits, HOUR, refuses, type Step, settles, type Trace, traces } from '../testing/trace.ts'

// A slot is in use for 30 s after it was taken or renewed, or until it is given back. No one can know
// when that will be: a client that is refused, or has nothing left, may ask again after 1 s.
const twoAtATime = { limit: 2, windowMs: 30_000 }

const takes = (at: number, slot: number, remaining: number): Step =>
  admits(at, 1, { remaining, resetMs: 30_000, effectiveMs: 1000 }, slot)

const isRefused = (at: number, slot: number, resetMs: number): Step => {
  return { ...refuses(at, 1, { remaining: 0, resetMs, retryAfterMs: 1000 }), slot }
}

const renews = (at: number, slot: number, remaining: number): Step =>
  settles(at, { delta: 1, chargedAt: 0, slot }, { remaining, resetMs: 30_000 })

const givesBack = (at: number, slot: number, remaining: number, resetMs: number): Step =>
  settles(at, { delta: -1, chargedAt: 0, slot }, { remaining, resetMs })

const LARGEST = Number.MAX_SAFE_INTEGER
const oneAtATime = { limit: 1, windowMs: 30_000 }
const none = { limit: 0, windowMs: 30_000 }
const threeAtATime = { limit: 3, windowMs: 30_000 }

export const concurrencyTraces: readonly Trace[] = [
  ...traces(twoAtATime, {
    'takes slots up to the number, and one again for each that is given back': [
      takes(0, 11, 1),
      takes(100, 12, 0),
      isRefused(200, 13, 29_900),
      givesBack(300, 11, 1, 29_800),
      takes(300, 14, 0),
      isRefused(400, 15, 29_900),
      givesBack(500, 14, 1, 29_600),
      givesBack(600, 12, 2, 0),
      takes(700, 16, 1),
    ],
    'a slot that nobody renews is free after it was held, to the millisecond': [
      takes(0, 1, 1),
      takes(10_000, 2, 0),
      isRefused(29_999, 3, 10_001),
      takes(30_000, 3, 0),
      isRefused(39_999, 4, 20_001),
      takes(40_000, 4, 0),
      takes(100_000, 5, 1),
    ],
    'a renewed slot is held on, whatever the order of the renewals': [
      takes(0, 1, 1),
      takes(1, 2, 0),
      renews(10_000, 1, 0),
      isRefused(30_000, 3, 10_000),
      takes(30_001, 3, 0),
      renews(30_001, 1, 0),
      givesBack(30_002, 3, 1, 29_999),
      givesBack(30_003, 1, 2, 0),
    ],
    'what is given back late, or twice, frees nobody else': [
      takes(0, 1, 1),
      takes(30_000, 2, 1),
      takes(30_000, 3, 0),
      givesBack(30_001, 1, 0, 29_999),
      givesBack(30_002, 2, 1, 29_998),
      givesBack(30_003, 2, 1, 29_997),
      settles(30_004, { delta: -1, chargedAt: 0 }, { remaining: 1, resetMs: 29_996 }),
    ],
    'the clock steps back an hour: what is held is held as if it were taken now': [
      takes(0, 1, 1),
      takes(1000, 2, 0),
      isRefused(-HOUR, 3, 30_000),
      isRefused(-HOUR + 29_999, 3, 1),
      takes(-HOUR + 30_000, 3, 1),
      givesBack(-HOUR + 30_000, 3, 2, 0),
    ],
    'the clock steps back a little: the slot that would be held too long is held as of now': [
      takes(0, 1, 1),
      takes(1000, 2, 0),
      renews(500, 1, 0),
      isRefused(30_499, 3, 1),
      takes(30_500, 3, 1),
    ],
  }),
  ...traces(oneAtATime, {
    'a look is admitted while a slot is free, and takes none': [
      admits(0, 0, { remaining: 1, resetMs: 0, effectiveMs: 1000 }),
      takes(0, 1, 0),
      refuses(1, 0, { remaining: 0, resetMs: 29_999, retryAfterMs: 1000 }),
    ],
  }),
  ...traces(none, {
    'more than there are, or any of none, is refused for ever': [
      refuses(0, 1, { remaining: 0, resetMs: 0, retryAfterMs: Infinity }),
      refuses(0, 0, { remaining: 0, resetMs: 0, retryAfterMs: Infinity }),
    ],
  }),
  ...traces(threeAtATime, {
    'slots differ if any part of their number does': [
      takes(0, LARGEST, 2),
      takes(0, LARGEST - 1, 1),
      takes(0, 1, 0),
      givesBack(1, LARGEST - 2, 0, 29_999),
      givesBack(1, LARGEST - 1, 1, 29_999),
      givesBack(1, LARGEST, 2, 29_999),
      givesBack(1, 1, 3, 0),
    ],
  }),
]
