import { number } from '@sluice/terminal/words'
import type { Ranking } from '../../../ranking.ts'

/** How many keys stand how. */
export function Counts({ ranking }: { ranking: Ranking }) {
  const counts = [
    ['keys', ranking.keys],
    ['at their limit', ranking.exhausted],
    ['near it', ranking.near],
    ['clients banned', ranking.banned],
    ['clients blocked', ranking.blocked],
    ['networks blocked', ranking.networkCount],
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
