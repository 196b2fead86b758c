import { Figure } from '../../parts/figure.tsx'
import { isAdmitted } from '../../traffic/answer.ts'
import { drawnAt } from '../../traffic/clock.ts'
import { type Bucket, UNIT_MS } from '../bucket/bucket.ts'
import type { Drawing } from '../view.ts'
import { leakyBucket, PLACES } from './model.ts'

/** The position of the gate at which they wait. */
const GATE = 122

/**
 * A queue before a gate that lets one through at a time. Who waits are the requests themselves:
 * those that were sent and have no answer yet. The bar is the room that the fields show.
 */
export const LeakyBucketDrawing: Drawing<Bucket> = ({ lane }) => {
  const now = drawnAt.value
  const waiting = Math.min(PLACES, lane.underWay.value.length)
  const { room } = leakyBucket.at(lane.state.value, now)
  const last = lane.answers.value.findLast(isAdmitted)
  // The drawing may be a frame older than the last answer.
  const gone = last === undefined ? 1 : Math.max(0, now - last.answeredAt) / UNIT_MS
  const words =
    waiting > 0
      ? `${waiting} of ${PLACES} waiting places are taken`
      : `no request waiting, room for ${Math.floor(room)}`
  return (
    <Figure words={`${words}; one passes each ${UNIT_MS / 1000}\u00a0s`}>
      <path class="frame" d={`M2 12 H${GATE} M2 48 H${GATE}`} />
      {Array.from({ length: PLACES }, (_, i) => (
        <circle
          key={i}
          class={i < waiting ? 'fill' : 'empty'}
          cx={GATE - 20 - i * 38}
          cy={30}
          r={13}
        />
      ))}
      <path class="frame" d={`M${GATE} 8 V52`} />
      {gone < 1 && (
        <circle class="fill" cx={GATE + 12 + gone * 34} cy={30} r={9 * (1 - gone * 0.6)} />
      )}
      <rect class="track" x={2} y={58} width={176} height={6} rx={3} />
      <rect class="fill" x={2} y={58} width={176 * Math.min(1, gone)} height={6} rx={3} />
    </Figure>
  )
}
