import type { Bar, Results } from './results.ts'

/** The claims of the README as a table: the ratios of medians that the rounds show, best first. */
export function toClaims({ date, bars }: Results): string {
  const rows = bars
    .filter(({ claim }) => claim !== undefined)
    .sort((one, other) => timesOf(one) - timesOf(other))
    .map((bar) => `| ${bar.claim} | ${bar.peer.split(/[ ,]/, 1)[0]} | ${timesOf(bar).toFixed(2)} |`)
  return `
| CPU time on ${date.slice(0, 10)} | the best popular limiter | Sluice, as a multiple of it |
|---|---|---|
${rows.join('\n')}
`
}

function timesOf({ figure, peerFigure }: Bar): number {
  return figure.median / peerFigure.median
}
