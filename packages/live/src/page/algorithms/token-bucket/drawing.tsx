import { BURST } from '../../../limits.ts'
import { Figure } from '../../parts/figure.tsx'
import { seconds } from '../../parts/format.ts'
import { drawnAt } from '../../traffic/clock.ts'
import { type Bucket, UNIT_MS } from '../bucket/bucket.ts'
import type { Drawing } from '../view.ts'
import { tokenBucket } from './model.ts'

const RADIUS = 13

/** Tokens in a bucket; the one that is coming back fills. */
export const TokenBucketDrawing: Drawing<Bucket> = ({ lane }) => {
  const { room } = tokenBucket.at(lane.state.value, drawnAt.value)
  const whole = Math.floor(room)
  const next = room < BURST ? `, the next in ${seconds((whole + 1 - room) * UNIT_MS)}` : ''
  return (
    <Figure words={`${whole} of ${BURST} tokens${next}`}>
      <path class="frame" d="M4 6 L14 64 H166 L176 6" />
      {Array.from({ length: BURST }, (_, i) => {
        const share = Math.min(1, Math.max(0, room - i))
        const x = 32 + i * 29
        return (
          <g key={i}>
            <circle class="empty" cx={x} cy={42} r={RADIUS} />
            <circle
              class={share === 1 ? 'fill' : 'faded'}
              cx={x}
              cy={42}
              r={RADIUS * Math.sqrt(share)}
            />
          </g>
        )
      })}
    </Figure>
  )
}
