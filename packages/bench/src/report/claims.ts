import { format, ratio } from './format.ts'
import type { Bar, Results, Verdict } from './results.ts'

/** What the README says of the results: the medians, and how many goals are met. */
export function toClaims({ date, bars }: Results): string {
  const verdicts = bars.flatMap(({ goal }) => goal?.verdict ?? [])
  const count = (verdict: Verdict) => verdicts.filter((each) => each === verdict).length
  const claims = bars.filter(({ claim }) => claim !== undefined).map(claimOf)
  return (
    `Measured beside today's popular limiters on ${date.slice(0, 10)}: ${claims.join('; ')}. ` +
    `Of ${verdicts.length} goals, ${count('met')} are met, ${count('not met')} are not met, and ` +
    `${count('not distinguishable')} are not distinguishable.`
  )
}

function claimOf({ claim, unit, figure, peer, peerFigure }: Bar): string {
  const of = ({ median }: { readonly median: number }) => `${format(median, unit)} ${unit}`
  const name = peer.split(/[ ,]/, 1)[0]
  const times = ratio(figure.median, peerFigure.median)
  return `${claim}: ${of(figure)} (${name} ${of(peerFigure)}, ${times})`
}
