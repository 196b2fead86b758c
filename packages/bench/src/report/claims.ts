import { judge } from './goals.ts'
import type { Results } from './results.ts'

/** The claims of the README as a table: the ratios of medians that the rounds show, best first. */
export function toClaims({ date, measurements }: Results): string {
  const rows = judge(measurements)
    .filter(({ claim }) => claim !== undefined)
    .map(({ figure, peerFigure, ...goal }) => ({ ...goal, ratio: figure / peerFigure }))
    .sort((one, other) => one.ratio - other.ratio)
    .map(({ claim, peer, ratio }) => {
      return `| ${claim} | ${peer.split(/[ ,]/, 1)[0]} | ${ratio.toFixed(2)} |`
    })
  return `
| CPU time on ${date.slice(0, 10)} | the best popular limiter | Sluice, as a multiple of it |
|---|---|---|
${rows.join('\n')}
`
}
