import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Lane } from '../traffic/lane.ts'
import type { Session } from '../traffic/session.ts'
import { COLUMN_MS, columnsOf } from './columns.ts'
import {
  edges,
  FUTURE_MS,
  labelStyle,
  PAST_MS,
  placeAt,
  SPAN_MS,
  secondsAt,
  shift,
  shiftStyle,
} from './time-axis.ts'

/** Height of a lane's drawing; admitted requests are on the line, refused ones hang below it. */
const HEIGHT = 100
const LINE = 70
/** Height of one request, unless there are too many. */
const STEP = 8

const COLUMN = COLUMN_MS / 1000
const GAP = 0.08

/** The common parts of a lane's drawings: the windows' edges, and now. Its unit of width is a second. */
function Strip({ children, height = HEIGHT }: { children: ComponentChildren; height?: number }) {
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${SPAN_MS / 1000} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect class="ahead" x={PAST_MS / 1000} width={FUTURE_MS / 1000} height={height} />
      <g transform={shift}>
        {children}
        <Edges height={height} />
      </g>
      <line class="now" x1={PAST_MS / 1000} x2={PAST_MS / 1000} y2={height} />
    </svg>
  )
}

function Edges({ height }: { height: number }) {
  return edges.value.map((edge) => (
    <line class="edge" key={edge} x1={secondsAt(edge)} x2={secondsAt(edge)} y2={height} />
  ))
}

/** Draws the answers of an endpoint, and where most was admitted within a window. */
export function LaneTimeline<State>({ lane }: { lane: Lane<State> }) {
  return (
    <div class="timeline">
      <Strip>
        <PeakBand lane={lane} />
        <Columns lane={lane} />
      </Strip>
      <div class="labels" style={shiftStyle}>
        <PeakLabel lane={lane} />
      </div>
    </div>
  )
}

function Columns<State>({ lane }: { lane: Lane<State> }) {
  const columns = useComputed(() => columnsOf(lane.answers.value))
  return columns.value.map(({ from, admitted, refused }) => (
    <g key={from}>
      <Stack class="admitted" from={from} count={admitted} room={LINE - 20} down={false} />
      <Stack class="refused" from={from} count={refused} room={HEIGHT - LINE - 2} down={true} />
    </g>
  ))
}

interface StackProps {
  class: string
  from: number
  count: number
  room: number
  down: boolean
}

/** A block for each request. */
function Stack({ class: name, from, count, room, down }: StackProps) {
  const step = Math.min(STEP, room / Math.max(count, 1))
  return Array.from({ length: count }, (_, i) => (
    <rect
      key={i}
      class={name}
      x={secondsAt(from) + GAP / 2}
      y={down ? LINE + 2 + i * step : LINE - (i + 1) * step}
      width={COLUMN - GAP}
      height={step * 0.8}
    />
  ))
}

function PeakBand<State>({ lane }: { lane: Lane<State> }) {
  const { count, from } = lane.peak.value
  if (count === 0) return null
  const { limit, spanMs } = lane.most
  const kind = count > limit ? 'band over' : 'band'
  return <rect class={kind} x={secondsAt(from)} width={spanMs / 1000} height={HEIGHT} />
}

function PeakLabel<State>({ lane }: { lane: Lane<State> }) {
  const { count, from } = lane.peak.value
  const { limit, label } = lane.most
  if (count === 0) return null
  return (
    <span class={count > limit ? 'over' : ''} style={{ left: placeAt(from) }}>
      {count} {label}
    </span>
  )
}

/** Draws the requests of this client: those it has sent, and those that are planned. */
export function RequestsTimeline({ session }: { session: Session }) {
  return (
    <div class="timeline requests">
      <Strip height={40}>
        <Sendings class="planned" times={session.planned.value} />
        <Sendings class="sent" times={session.sent.value} />
      </Strip>
      <div class="labels">
        {edges.value.map((edge) => (
          <EdgeLabel key={edge} edge={edge} />
        ))}
      </div>
    </div>
  )
}

function Sendings({ class: name, times }: { class: string; times: readonly number[] }) {
  return times.map((time) => (
    <rect key={time} class={name} x={secondsAt(time)} y={14} width={0.07} height={24} />
  ))
}

function EdgeLabel({ edge }: { edge: number }) {
  const style = useComputed(() => labelStyle(edge))
  return (
    <span class="edge-label" style={style}>
      window’s edge
    </span>
  )
}
