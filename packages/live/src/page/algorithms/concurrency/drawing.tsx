import { CONCURRENT } from '../../../limits.ts'
import { Figure } from '../../parts/figure.tsx'
import type { Drawing } from '../view.ts'

/** The slots. In progress are the requests that were sent and have no answer yet. */
export const ConcurrencyDrawing: Drawing<undefined> = ({ lane }) => {
  const inProgress = Math.min(CONCURRENT, lane.underWay.value.length)
  const width = 176 / CONCURRENT
  return (
    <Figure words={`${inProgress} of ${CONCURRENT} in progress`}>
      {Array.from({ length: CONCURRENT }, (_, i) => (
        <rect
          key={i}
          class={i < inProgress ? 'fill' : 'empty'}
          x={2 + i * width}
          y={18}
          width={width - 6}
          height={36}
          rx={6}
        />
      ))}
    </Figure>
  )
}
