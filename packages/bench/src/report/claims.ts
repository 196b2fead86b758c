import { ratio } from './format.ts'
import type { Bar, Results, Verdict } from './results.ts'

/** What the README says of the results: ratios of medians that are clear, and how many goals are met. */
export function toClaims({ date, bars }: Results): string {
  const verdicts = bars.flatMap(({ goal }) => goal?.verdict ?? [])
  const count = (verdict: Verdict) => verdicts.filter((each) => each === verdict).length
  const claims = bars.filter(({ claim }) => claim !== undefined).map(claimOf)
  return (
    `CPU time beside the best of today's popular limiters, measured on ${date.slice(0, 10)}: ` +
    `${claims.join('; ')}. Of ${verdicts.length} goals, ${count('met')} are met, ` +
    `${count('not met')} are not, and for ${count('not distinguishable')} the rounds disagree.`
  )
}

function claimOf({ claim, figure, peer, peerFigure }: Bar): string {
  const name = peer.split(/[ ,]/, 1)[0]
  return `${claim} ${ratio(figure.median, peerFigure.median)} (${name})`
}
