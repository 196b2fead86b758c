import type { ComponentChildren } from 'preact'
import { LIMIT, WINDOW_MS } from '../../limits.ts'
import type { Drawing } from '../drawings/drawing.ts'
import type { Lane } from '../traffic/lane.ts'
import { Standing } from './standing.tsx'
import { LaneTimeline } from './timeline.tsx'

interface LaneRowProps<State> {
  lane: Lane<State>
  drawing: Drawing<State>
  /** What the algorithm does, in a sentence or two. */
  children: ComponentChildren
}

/** One algorithm: what it is, how it stands, what it has answered. */
export function LaneRow<State>({ lane, drawing: DrawingOf, children }: LaneRowProps<State>) {
  const { algorithm } = lane
  return (
    <article class={`lane ${algorithm}`} aria-labelledby={algorithm}>
      <div class="about">
        <h2 id={algorithm}>{algorithm}</h2>
        <p>{children}</p>
      </div>
      <DrawingOf lane={lane} />
      <LaneTimeline lane={lane} />
      <div class="result">
        <Most lane={lane} />
        <Standing lane={lane} />
      </div>
    </article>
  )
}

function Most<State>({ lane }: { lane: Lane<State> }) {
  const { count } = lane.peak.value
  const over = count > LIMIT
  return (
    <p class={over ? 'most over' : 'most'}>
      <strong>{count}</strong> most in any {WINDOW_MS / 1000} s
      {over && <b>{count / LIMIT} × the limit</b>}
    </p>
  )
}
