import { LIMIT, WINDOW_MS } from '../../../limits.ts'
import { Figure } from '../../parts/figure.tsx'
import { drawnAt } from '../../traffic/clock.ts'
import type { Drawing } from '../view.ts'
import { at, type SlidingLog } from './model.ts'

/** Dots near in time are in different rows: a new row every so many ms. */
const ROWS = 5
const ROW_MS = 29

/** A dot for each admitted request, which leaves on the left when a window has passed. */
export const SlidingLogDrawing: Drawing<SlidingLog> = ({ lane }) => {
  const now = drawnAt.value
  const entries = at(lane.state.value, now)
  return (
    <Figure words={`${entries.length} of ${LIMIT} in the last ${WINDOW_MS / 1000} s`}>
      <rect class="frame" x={2} y={6} width={176} height={58} rx={4} />
      {entries.map((time, i) => (
        <circle
          key={`${time} ${i}`}
          class="fill"
          cx={172 - ((now - time) / WINDOW_MS) * 164}
          cy={14 + (Math.floor(time / ROW_MS) % ROWS) * 10.5}
          r={4.2}
        />
      ))}
    </Figure>
  )
}
