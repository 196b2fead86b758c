import { number } from '@sluice/terminal/words'
import type { Sweep } from '../../../sweep.ts'

/** How many keys stand how. */
export function Counts({ sweep }: { sweep: Sweep }) {
  const counts = [
    ['keys', sweep.keys],
    ['at their limit', sweep.exhausted],
    ['near it', sweep.near],
    ['banned', sweep.banned],
    ['blocked', sweep.blocked],
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
