import { algorithms, CONCURRENT, LIMIT } from '../limits.ts'
import { views } from './algorithms/views.ts'
import { Answers } from './parts/answers.tsx'
import { Controls } from './parts/controls.tsx'
import { WINDOW } from './parts/format.ts'
import { LaneRow } from './parts/lane-row.tsx'
import { News } from './parts/news.tsx'
import { RequestsTimeline } from './parts/timeline.tsx'
import type { Session } from './traffic/session.ts'

export function App({ session }: { session: Session }) {
  const { lanes } = session
  return (
    <>
      <header class="title">
        <h1>One request, six rate limiters</h1>
        <p>
          Five allow {LIMIT} requests per {WINDOW}, and count them differently; the sixth allows{' '}
          {CONCURRENT} at the same time. Each request that you send goes to all of them.
        </p>
      </header>
      <main>
        <Controls session={session} />
        <News session={session} />
        <section class="lanes" aria-label="The limiters">
          <div class="lane yours">
            <div class="about">
              <h2>your requests</h2>
              <p>
                Time runs to the left; the line is now. Blocks on a lane’s line are admitted
                requests. Hollow blocks below it are refused requests.
              </p>
            </div>
            <RequestsTimeline session={session} />
          </div>
          {algorithms.map((algorithm) => (
            <LaneRow key={algorithm} lane={lanes[algorithm]} view={views[algorithm]} />
          ))}
        </section>
        <Answers session={session} />
      </main>
      <footer>
        <p>
          Everything here comes from the status and the header fields of real responses, made by{' '}
          <code>rateLimit</code> of <code>@sluice/express</code>. Between two responses, the
          drawings follow the rule of the algorithm.
        </p>
      </footer>
    </>
  )
}
