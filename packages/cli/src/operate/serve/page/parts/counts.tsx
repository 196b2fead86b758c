import { number } from '@sluice/terminal/words'
import type { Ranking } from '../../../ranking.ts'

/** How many keys stand how. */
export function Counts({ ranking }: { ranking: Ranking }) {
  const counts = [
    ['keys', ranking.keys],
    ['at their limit', ranking.exhausted],
    ['near it', ranking.near],
    ['banned', ranking.banned],
    ['blocked', ranking.blocked],
    ...(ranking.networkCount > 0 ? ([['networks blocked', ranking.networkCount]] as const) : []),
  ] as const
  return (
    <dl class="counts">
      {counts.map(([name, count]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{number(count)}</dd>
        </div>
      ))}
    </dl>
  )
}
