import { ratio } from './format.ts'
import type { Bar, Results } from './results.ts'

/** What the README says of the results: the ratios of medians that the rounds show, best first. */
export function toClaims({ date, bars }: Results): string {
  const claims = bars
    .filter(({ claim }) => claim !== undefined)
    .sort((one, other) => timesOf(one) - timesOf(other))
    .map(claimOf)
  return (
    `CPU time beside the best of today's popular limiters, on ${date.slice(0, 10)}: ` +
    `${claims.join('; ')}.`
  )
}

function timesOf({ figure, peerFigure }: Bar): number {
  return figure.median / peerFigure.median
}

function claimOf({ claim, figure, peer, peerFigure }: Bar): string {
  const name = peer.split(/[ ,]/, 1)[0]
  return `${claim} ${ratio(figure.median, peerFigure.median)} (${name})`
}
