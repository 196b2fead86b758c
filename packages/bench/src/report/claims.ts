import type { Bar, Results } from './results.ts'

/** What the README says of the results: the ratios of medians that the rounds show, best first. */
export function toClaims({ date, bars }: Results): string {
  const claims = bars
    .filter(({ claim }) => claim !== undefined)
    .sort((one, other) => timesOf(one) - timesOf(other))
    .map(claimOf)
  return `CPU time on ${date.slice(0, 10)}, as a multiple of the best popular limiter's: ${claims.join(', ')}.`
}

function timesOf({ figure, peerFigure }: Bar): number {
  return figure.median / peerFigure.median
}

function claimOf(bar: Bar): string {
  return `${timesOf(bar).toFixed(2)} ${bar.claim} (${bar.peer.split(/[ ,]/, 1)[0]})`
}
