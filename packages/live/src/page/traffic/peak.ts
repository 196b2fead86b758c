import { LIMIT, WINDOW_MS } from '../../limits.ts'
import type { Answer } from './answer.ts'

/** The most that went through together. */
export interface Peak {
  readonly count: number
  /** When the first of them came: ms on the server's clock. */
  readonly from: number
}

/** The window in which a lane counts its most admissions. */
export interface Most {
  /** The requests that are together, in words: `in any 10 s`. */
  readonly words: string
  /** The words for a label. */
  readonly label: string
  /** The most that is allowed. */
  readonly limit: number
  /** How long they are together at most, ms. */
  readonly spanMs: number
  /** The peak with the last of the answers, given what it was before. They are in the order in which they came. */
  after(before: Peak, admitted: readonly Answer[]): Peak
}

export const none: Peak = { count: 0, from: 0 }

/** The most in a span shorter than a window. */
export const inAnyWindow: Most = {
  words: `in any ${WINDOW_MS / 1000} s`,
  label: `in ${WINDOW_MS / 1000} s`,
  limit: LIMIT,
  spanMs: WINDOW_MS,
  after: peakAfter,
}

/** The timer of the leaky bucket and the way back may take this long together, ms. */
const TURN_MS = 100

/**
 * The peak once `answers` is complete up to its last, given what it was before. An answer is known
 * to have been decided between sending and answering, no closer: only those count together that
 * are within a window even if the first was decided when it was sent and the last when it was
 * answered. So what is said here is never too much.
 *
 * @param admitted answers of one endpoint, oldest first
 */
export function peakAfter(before: Peak, admitted: readonly Answer[]): Peak {
  const last = admitted.at(-1)
  if (last === undefined) return before
  const first = admitted.findIndex((answer) => last.answeredAt - wentOn(answer) < WINDOW_MS)
  const count = admitted.length - first
  return count > before.count ? { count, from: wentOn(admitted[first] as Answer) } : before
}

/** The earliest moment at which the request can have gone on. In the leaky bucket it waits first. */
function wentOn({ algorithm, sentAt, answeredAt }: Answer): number {
  return algorithm === 'leaky-bucket' ? Math.max(sentAt, answeredAt - TURN_MS) : sentAt
}
