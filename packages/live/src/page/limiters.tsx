import { algorithms } from '../limits.ts'
import { views } from './algorithms/views.ts'
import { Answers } from './parts/answers.tsx'
import { Controls } from './parts/controls.tsx'
import { LaneRow } from './parts/lane-row.tsx'
import { News } from './parts/news.tsx'
import { RequestsTimeline } from './parts/timeline.tsx'
import type { Session } from './traffic/session.ts'

/** The buttons, the limiters and their answers: the page without what is around it. */
export function Limiters({ session }: { session: Session }) {
  const { lanes } = session
  return (
    <>
      <Controls session={session} />
      <News session={session} />
      <section class="lanes" aria-label="The limiters">
        <div class="lane yours">
          <div class="about">
            <h2>your requests</h2>
            <p>
              Time runs to the left; the line is now. Blocks on a lane’s line are admitted requests.
              Hollow blocks below it are refused requests.
            </p>
          </div>
          <RequestsTimeline session={session} />
        </div>
        {algorithms.map((algorithm) => (
          <LaneRow key={algorithm} lane={lanes[algorithm]} view={views[algorithm]} />
        ))}
      </section>
      <Answers session={session} />
    </>
  )
}
