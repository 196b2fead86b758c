import { LIMIT } from '../../../limits.ts'
import { Figure } from '../../parts/figure.tsx'
import { drawnAt } from '../../traffic/clock.ts'
import type { Drawing } from '../view.ts'
import { at, type SlidingWindow, shareInside } from './model.ts'

const WIDTH = 88
const HEIGHT = 50

/** The last window and this one, and a frame as wide as a window that slides over both. */
export const SlidingWindowDrawing: Drawing<SlidingWindow> = ({ lane }) => {
  const now = drawnAt.value
  const state = at(lane.state.value, now)
  const share = shareInside(state, now)
  const estimate = state.previous * share + state.current
  const left = 2 + WIDTH * (1 - share)
  const height = (count: number) => (count / LIMIT) * (HEIGHT - 4)
  const words = `${state.previous} × ${Math.round(share * 100)} % + ${state.current} = ${estimate.toFixed(1)} of ${LIMIT}`
  return (
    <Figure words={words}>
      <rect class="empty" x={2} y={8} width={WIDTH - 1} height={HEIGHT} />
      <rect class="empty" x={2 + WIDTH} y={8} width={WIDTH - 1} height={HEIGHT} />
      <rect
        class="faded"
        x={2}
        y={6 + HEIGHT - height(state.previous)}
        width={WIDTH - 1}
        height={height(state.previous)}
      />
      <rect
        class="fill"
        x={left}
        y={6 + HEIGHT - height(state.previous)}
        width={Math.max(0, WIDTH * share - 1)}
        height={height(state.previous)}
      />
      <rect
        class="fill"
        x={2 + WIDTH}
        y={6 + HEIGHT - height(state.current)}
        width={WIDTH - 1}
        height={height(state.current)}
      />
      <rect class="frame slider" x={left} y={3} width={WIDTH} height={HEIGHT + 8} rx={4} />
    </Figure>
  )
}
