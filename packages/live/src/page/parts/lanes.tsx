import { algorithms } from '../../limits.ts'
import { views } from '../algorithms/views.tsx'
import type { Session } from '../traffic/session.ts'
import { LaneRow } from './lane-row.tsx'
import { RequestsTimeline } from './timeline.tsx'

interface LanesProps {
  session: Session
  /** Whether as many lanes as possible are in sight. */
  isShort: boolean
}

/** The requests, and below them what each limiter makes of them. */
export function Lanes({ session, isShort }: LanesProps) {
  return (
    <section class={isShort ? 'lanes short' : 'lanes'} aria-label="The limiters">
      <div class="lane yours">
        <div class="about">
          <h2>your requests</h2>
          <p>
            The vertical line is now; older requests move to the left. Blocks on a lane’s line are
            admitted requests, hollow blocks below it are refused.
          </p>
        </div>
        <RequestsTimeline session={session} />
      </div>
      {algorithms.map((algorithm) => (
        <LaneRow
          key={algorithm}
          lane={session.lanes[algorithm]}
          view={views[algorithm]}
          isShort={isShort}
        />
      ))}
    </section>
  )
}
