import { LIMIT, WINDOW_MS } from '../../limits.ts'
import { drawnAt } from '../traffic/clock.ts'
import type { Session } from '../traffic/session.ts'
import { Summary } from './summary.tsx'

/** Says what to do, what will be sent, or what happened. */
export function News({ session }: { session: Session }) {
  return (
    <div class="news">
      <Hint session={session} />
      <Summary session={session} />
    </div>
  )
}

function Hint({ session: { planned, count } }: { session: Session }) {
  const [next] = planned.value
  if (next !== undefined && count.value === 0) return <Countdown to={next} />
  if (count.value > 0) return null
  return (
    <p>
      Try <b>Edge of a window</b>: the limit is {LIMIT} requests per {WINDOW_MS / 1000} s, but one
      limiter admits {2 * LIMIT} within three seconds.
    </p>
  )
}

export function Countdown({ to }: { to: number }) {
  return <p>The requests start in {Math.ceil((to - drawnAt.value) / 1000)} s.</p>
}
