import { CONCURRENT, WORK_MS } from '../../../limits.ts'
import type { Answer } from '../../traffic/answer.ts'
import type { Model } from '../../traffic/lane.ts'
import type { Peak } from '../../traffic/peak.ts'

/** The requests in progress are known: the fields add nothing. */
export const concurrency: Model<undefined> = {
  untouched: undefined,
  answered: () => undefined,
  most: {
    words: 'at the same time',
    label: 'together',
    limit: CONCURRENT,
    spanMs: WORK_MS,
    after: togetherAfter,
  },
}

/**
 * The most that certainly were in progress at one moment. The server has worked for `WORK_MS` between
 * sending and answering, no closer is known: so a request is counted only for the time in which it was
 * in progress in any case.
 */
function togetherAfter(before: Peak, admitted: readonly Answer[]): Peak {
  const last = admitted.at(-1)
  if (last === undefined) return before
  const from = last.answeredAt - WORK_MS
  const until = last.sentAt + WORK_MS
  const together = admitted.filter(
    ({ sentAt, answeredAt }) => sentAt + WORK_MS > from && answeredAt - WORK_MS < until,
  )
  const starts = together.map(({ answeredAt }) => answeredAt - WORK_MS)
  const at = (moment: number) =>
    together.filter(
      ({ sentAt, answeredAt }) => answeredAt - WORK_MS <= moment && moment < sentAt + WORK_MS,
    ).length
  const most = Math.max(0, ...starts.map(at))
  return most > before.count ? { count: most, from } : before
}
