import type { View } from '../algorithms/view.ts'
import type { Lane } from '../traffic/lane.ts'
import { LastResponse } from './last-response.tsx'
import { LaneTimeline } from './timeline.tsx'

interface LaneRowProps<State> {
  lane: Lane<State>
  view: View<State>
  /** Whether the description and the state are shown only when the reader asks for them. */
  isShort: boolean
}

/** One algorithm: its description, its state and its answers. */
export function LaneRow<State>({ lane, view, isShort }: LaneRowProps<State>) {
  const { algorithm } = lane
  const { Drawing, about } = view
  return (
    <article class={`lane ${algorithm}`} aria-labelledby={algorithm}>
      {isShort ? (
        <details class="about">
          <summary>
            <h2 id={algorithm}>{algorithm}</h2>
          </summary>
          <p>{about}</p>
          <Drawing lane={lane} />
        </details>
      ) : (
        <>
          <div class="about">
            <h2 id={algorithm}>{algorithm}</h2>
            <p>{about}</p>
          </div>
          <Drawing lane={lane} />
        </>
      )}
      <LaneTimeline lane={lane} />
      <div class="result">
        <Most lane={lane} />
        <LastResponse lane={lane} />
      </div>
    </article>
  )
}

function Most<State>({ lane }: { lane: Lane<State> }) {
  const { count } = lane.peak.value
  const { words, limit } = lane.most
  const over = count > limit
  return (
    <p class={over ? 'most over' : 'most'}>
      <strong>{count}</strong> <span class="words">most {words}</span>{' '}
      {over && <b>{count / limit} × the limit</b>}
    </p>
  )
}
