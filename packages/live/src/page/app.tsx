import { BURST, LIMIT, MAX_DELAY_MS, WINDOW_MS } from '../limits.ts'
import { FixedWindowDrawing } from './drawings/fixed-window.tsx'
import { LeakyBucketDrawing } from './drawings/leaky-bucket.tsx'
import { SlidingLogDrawing } from './drawings/sliding-log.tsx'
import { SlidingWindowDrawing } from './drawings/sliding-window.tsx'
import { TokenBucketDrawing } from './drawings/token-bucket.tsx'
import { Answers } from './parts/answers.tsx'
import { Controls } from './parts/controls.tsx'
import { LaneRow } from './parts/lane-row.tsx'
import { News } from './parts/news.tsx'
import { RequestsTimeline } from './parts/timeline.tsx'
import type { Session } from './traffic/session.ts'

const WINDOW = `${WINDOW_MS / 1000}\u00a0s`

export function App({ session }: { session: Session }) {
  const { lanes } = session
  return (
    <>
      <header class="title">
        <h1>One request, five rate limiters</h1>
        <p>
          Each allows {LIMIT} requests per {WINDOW}, and counts them in its own way. What you send
          goes to all five at once.
        </p>
      </header>
      <main>
        <Controls session={session} />
        <News session={session} />
        <section class="lanes" aria-label="The five algorithms">
          <div class="lane yours">
            <div class="about">
              <h2>your requests</h2>
              <p>
                Time runs to the left, the line is now. Blocks on a lane’s line were admitted,
                hollow ones below it refused.
              </p>
            </div>
            <RequestsTimeline session={session} />
          </div>
          <LaneRow lane={lanes['fixed-window']} drawing={FixedWindowDrawing}>
            Counts in windows of the clock. At an edge the count starts over, so twice the limit can
            pass around it.
          </LaneRow>
          <LaneRow lane={lanes['sliding-window']} drawing={SlidingWindowDrawing}>
            Adds to this window’s count the share of the last one still inside: an estimate, close
            to the limit on ordinary traffic. The default.
          </LaneRow>
          <LaneRow lane={lanes['sliding-log']} drawing={SlidingLogDrawing}>
            Remembers each admitted request for exactly {WINDOW}: never more than the limit in any
            span of that length.
          </LaneRow>
          <LaneRow lane={lanes['token-bucket']} drawing={TokenBucketDrawing}>
            Starts with {BURST} tokens and gets {LIMIT} back per {WINDOW}, evenly: small bursts,
            then the rate, together at most {BURST + LIMIT} in any window.
          </LaneRow>
          <LaneRow lane={lanes['leaky-bucket']} drawing={LeakyBucketDrawing}>
            Lets requests go on one at a time, evenly. The others wait their turn,{' '}
            {MAX_DELAY_MS / 1000} s at most, or are refused.
          </LaneRow>
        </section>
        <Answers session={session} />
      </main>
      <footer>
        <p>
          Everything here comes from the status and the header fields of real answers, made by{' '}
          <code>rateLimit</code> of <code>@sluice/express</code>. Between two answers the drawings
          go on by the algorithm’s own rule.
        </p>
      </footer>
    </>
  )
}
