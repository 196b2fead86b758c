import { LIMIT, WINDOW_MS } from '../../../limits.ts'
import { Figure } from '../../parts/figure.tsx'
import { seconds } from '../../parts/format.ts'
import { drawnAt } from '../../traffic/clock.ts'
import type { Drawing } from '../view.ts'
import { at, type FixedWindow } from './model.ts'

/** A box of slots that empties when time reaches its right side. */
export const FixedWindowDrawing: Drawing<FixedWindow> = ({ lane }) => {
  const now = drawnAt.value
  const { used, endsAt } = at(lane.state.value, now)
  // The page's clock may be a little behind the server's.
  const left = Math.min(WINDOW_MS, endsAt - now)
  return (
    <Figure words={`${used} of ${LIMIT} used, reset in ${seconds(left)}`}>
      <rect class="frame" x={2} y={6} width={176} height={44} rx={4} />
      {Array.from({ length: LIMIT }, (_, i) => (
        <rect
          key={i}
          class={i < used ? 'fill' : 'empty'}
          x={8 + i * 16.6}
          y={12}
          width={13.6}
          height={32}
          rx={2}
        />
      ))}
      <rect class="track" x={2} y={58} width={176} height={6} rx={3} />
      <rect class="fill" x={2} y={58} width={176 * (1 - left / WINDOW_MS)} height={6} rx={3} />
    </Figure>
  )
}
