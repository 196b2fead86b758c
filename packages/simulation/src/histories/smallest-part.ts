import type { History, Operation } from './history.ts'
import { linearize, type Verdict } from './linearize.ts'

/** The most ways that are followed in each trial: a part that needs more to be judged stays larger. */
const MAX_WAYS = 2_000

/**
 * The smallest part of a history that can't be explained: whichever of all its other operations were carried out,
 * the sequential limiter would not have given these answers. None of the part can be left out. A text: what
 * `linearize` says of a history that has none.
 */
export function smallestPart(
  history: History,
): readonly Operation[] | Exclude<Verdict, { impossibleBy: number }> {
  const verdict = linearize(history)
  if (typeof verdict === 'string') return verdict
  let part = history.operations.filter(({ called }) => called <= verdict.impossibleBy)
  for (let length = Math.ceil(part.length / 2); ; length = Math.ceil(length / 2)) {
    for (let from = 0; from < part.length; ) {
      const doubted = part.map((each, i) => {
        return i >= from && i < from + length ? { ...each, isCertain: false } : each
      })
      const certain = doubted.filter(({ isCertain }) => isCertain)
      const isLess = certain.length < part.filter(({ isCertain }) => isCertain).length
      if (isLess && isImpossible({ ...history, operations: doubted })) part = doubted
      from += length
    }
    if (length === 1) return part.filter(({ isCertain }) => isCertain)
  }
}

function isImpossible(history: History): boolean {
  return typeof linearize(history, MAX_WAYS) === 'object'
}

/** A part as a person reads it, in the order of the calls; times in ms since the first one. */
export function describePart(part: readonly Operation[]): string {
  const sorted = part.toSorted((one, other) => one.called - other.called)
  const first = sorted[0]?.called ?? 0
  const lines = sorted.map(({ process, asked, called, over, answer }) => {
    const span = `${(called - first).toFixed(3)} to ${(over - first).toFixed(3)}`
    const what =
      'cost' in asked
        ? `asks for ${asked.cost}`
        : `gives back ${asked.giveBack} of ${asked.chargedAt}`
    const policies = answer?.policies.map(
      ({ remaining, resetMs, retryAfterMs }) =>
        `${remaining} left, full in ${resetMs} ms, wait ${retryAfterMs} ms`,
    )
    const got =
      answer &&
      `: ${answer.allowed ? 'admitted' : 'refused'} at ${answer.at} (${policies?.join('; ')})`
    return `${span}: process ${process} ${what}${got ?? ''}`
  })
  return lines.join('\n')
}
