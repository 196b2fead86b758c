import type { Outcome } from '../algorithm.ts'
import { type Trace, traces } from '../testing/trace.ts'

/** A request of one key that a policy refuses or admits, at ms from the start. */
export interface BanStep {
  readonly at: number
  /** Whether the policy beside the ban refuses. */
  readonly refused: boolean
  /** A list that has replaced that of the params, ms: another route's, or after a deploy. */
  readonly bansMs?: readonly number[]
  /** The expected outcome of the ban. */
  readonly expect: Pick<Outcome, 'admitted' | 'remaining' | 'resetMs' | 'retryAfterMs'>
}

/** @param expect what is left until a ban, and until all is forgotten, ms */
function refused(at: number, [remaining, resetMs]: readonly [number, number]): BanStep {
  return { at, refused: true, expect: { admitted: true, remaining, resetMs, retryAfterMs: 0 } }
}

function passed(at: number, [remaining, resetMs]: readonly [number, number]): BanStep {
  return { at, refused: false, expect: { admitted: true, remaining, resetMs, retryAfterMs: 0 } }
}

/** @param retryAfterMs until the ban ends; `within` later all is forgotten */
function banned(at: number, retryAfterMs: number, resetMs: number, byPolicy = true): BanStep {
  const expect = { admitted: false, remaining: 0, resetMs, retryAfterMs }
  return { at, refused: byPolicy, expect }
}

function withList(bansMs: readonly number[], step: BanStep): BanStep {
  return { ...step, bansMs }
}

const params = { limit: 3, windowMs: 1000, bansMs: [100, 500] }
const atOnce = { ...params, limit: 1 }
const onceFor500 = { ...params, limit: 1, bansMs: [500] }

export const banTraces: readonly Trace<BanStep>[] = [
  ...traces(params, {
    'the third refusal within a second begins a ban, which ends to the ms': [
      passed(0, [3, 0]),
      refused(0, [2, 1000]),
      refused(10, [1, 1000]),
      passed(20, [1, 990]),
      banned(999, 100, 1100),
      banned(1098, 1, 1001, false),
      passed(1099, [3, 1000]),
    ],
    'without a refusal within a second of the last ban, or the last refusal, all is forgotten': [
      refused(0, [2, 1000]),
      refused(0, [1, 1000]),
      banned(0, 100, 1100),
      passed(1099, [3, 1]),
      passed(1100, [3, 0]),
      refused(1100, [2, 1000]),
      refused(1100, [1, 1000]),
      banned(1100, 100, 1100),
      // Kept by this refusal, though that is one of a window that does not lead to a ban.
      refused(2199, [2, 1000]),
      refused(3198, [1, 1000]),
      passed(3199, [3, 999]),
      refused(3199, [2, 1000]),
      refused(3199, [1, 1000]),
      banned(3199, 500, 1500),
    ],
    'the window begins with a refusal, and again with the first one after its end': [
      refused(0, [2, 1000]),
      refused(999, [1, 1000]),
      refused(1000, [2, 1000]),
      refused(1999, [1, 1000]),
      refused(2000, [2, 1000]),
    ],
    'the clock steps back an hour: a ban lasts as long as it can, a refusal is one of now': [
      refused(0, [2, 1000]),
      refused(-3_600_000, [1, 1000]),
      banned(-3_600_000, 100, 1100),
      banned(-7_200_000, 100, 1100),
      banned(-7_199_901, 1, 1001),
      passed(-7_199_900, [3, 1000]),
    ],
    'the clock steps back behind the last of several refusals: that is one of now': [
      refused(0, [2, 1000]),
      refused(900, [1, 1000]),
      passed(400, [1, 1000]),
    ],
    'the clock steps forward: nothing is left': [
      refused(0, [2, 1000]),
      refused(0, [1, 1000]),
      banned(0, 100, 1100),
      refused(3_600_000, [2, 1000]),
    ],
  }),
  ...traces(atOnce, {
    'refusals that a ban refuses count for nothing, so that it ends when it said': [
      banned(0, 100, 1100),
      banned(1, 99, 1099),
      banned(99, 1, 1001),
      passed(100, [1, 1000]),
      banned(100, 500, 1500),
    ],
    'the next ban lasts longer, the last one of the list again and again': [
      banned(0, 100, 1100),
      banned(1099, 500, 1500),
      banned(2598, 500, 1500),
      // 3098 + 1000
      passed(4097, [1, 1]),
      banned(4097, 500, 1500),
    ],
  }),
  ...traces(onceFor500, {
    'a ban ends when it said, whatever the list says meanwhile': [
      banned(0, 500, 1500),
      withList([1], banned(100, 400, 1400)),
      withList([9000], banned(200, 300, 1300)),
      // The clock steps back: it lasts as long as it did at first.
      withList([1], banned(-3_600_000, 500, 1500)),
      withList([1], banned(-3_599_501, 1, 1001, false)),
      withList([1], passed(-3_599_500, [1, 1000])),
      withList([1, 7], banned(-3_599_400, 7, 1007)),
    ],
  }),
  ...traces(
    {
      limit: 2,
      windowMs: 315_576_000_000,
      bansMs: [1, 2, 3, 4, 5, 6, 7, 8, 9, 315_576_000_000],
    },
    {
      'ten bans, and the last of them again, of ten years': Array.from({ length: 11 }, (_, i) => {
        const banMs = i < 9 ? i + 1 : 315_576_000_000
        const at = i < 10 ? i * 100 : 315_576_001_000
        return [refused(at, [1, 315_576_000_000]), banned(at, banMs, banMs + 315_576_000_000)]
      }).flat(),
    },
  ),
]
