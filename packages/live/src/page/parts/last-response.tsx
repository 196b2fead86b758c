import { drawnAt } from '../traffic/clock.ts'
import type { Lane } from '../traffic/lane.ts'
import { seconds } from './format.ts'

/** The status of the last response, and how much of its Retry-After is left. */
export function LastResponse<State>({ lane }: { lane: Lane<State> }) {
  const last = lane.answers.value.at(-1)
  if (last === undefined) return <p class="last-response">no response yet</p>
  const { status, remaining, answeredAt, retryAfterMs } = last
  if (retryAfterMs === undefined) {
    return (
      <p class="last-response">
        <b class="status">{status}</b> {remaining} remaining
      </p>
    )
  }
  return (
    <div class="last-response">
      <p>
        <b class="status refused">{status}</b>{' '}
        <span class="field">Retry-After: {retryAfterMs / 1000}</span>
      </p>
      <Wait until={answeredAt + retryAfterMs} />
    </div>
  )
}

function Wait({ until }: { until: number }) {
  const left = until - drawnAt.value
  return <p class="wait">{left > 0 ? `wait ${seconds(left)}` : 'retry now'}</p>
}
