import { number } from '@sluice/terminal/words'
import { colour, countAxis, createChart, plainAxis, type uPlot } from '@sluice/ui/page'
import { useEffect, useRef } from 'preact/hooks'
import type { Point } from '../../store-watch.ts'

const HEIGHT = 120
/** The width of the longest label of a time, `14:33:05 UTC`, with a gap. */
const LABEL = 96

/**
 * Keys at their limit, banned or blocked, since the page was opened. The store does not count refusals:
 * one that refused a thousand requests looks like one that refused none.
 */
export function HistoryChart({ history }: { history: readonly Point[] }) {
  const host = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | undefined>(undefined)
  useEffect(() => {
    const drawn = createChart(host.current as HTMLDivElement, OPTIONS, dataOf([]))
    chart.current = drawn
    return () => drawn.destroy()
  }, [])
  useEffect(() => chart.current?.setData(dataOf(history)), [history])
  const last = history.at(-1)
  return (
    <section aria-labelledby="history">
      <h2 id="history">Keys at their limit</h2>
      <div ref={host} class="chart" aria-hidden="true" />
      <div class="now">
        <p>
          {last === undefined
            ? 'No reading yet.'
            : `Now: ${number(refusedIn(last))} of ${number(last.keys)}. The most: ${number(Math.max(...history.map(refusedIn)))}.`}
        </p>
        <details>
          <summary>What this counts</summary>
          <p>
            Keys with nothing left, banned or blocked, at each reading since somebody opened this
            page. The store does not count refused requests; the metrics of your servers do.
          </p>
        </details>
      </div>
    </section>
  )
}

const OPTIONS = {
  height: HEIGHT,
  legend: { show: false },
  cursor: { show: false },
  scales: {
    y: { range: (_: uPlot, _min: number, max: number): [number, number] => [0, Math.max(1, max)] },
  },
  axes: [plainAxis({ space: LABEL, values: (_, times) => times.map(labelOf) }), countAxis()],
  // A label at the end of the axis is centred there.
  padding: [null, LABEL / 2, null, null] as uPlot.Padding,
  series: [{}, { stroke: colour('--refused'), width: 2, points: { size: 4, filter: alone } }],
}

/** The readings between two gaps, which no line shows. */
function alone({ data }: uPlot, series: number): number[] {
  const counts = data[series] as (number | null)[]
  return [...counts.keys()].filter(
    (i) => counts[i] !== null && counts[i - 1] == null && counts[i + 1] == null,
  )
}

/** One label for each second: of a short history, several lines are in the same one. */
function labelOf(s: number, i: number, times: readonly number[]): string {
  return Math.floor(s) === Math.floor(times[i - 1] ?? -1) ? '' : clockText(s, i)
}

/**
 * The time of day, in UTC as on the rest of the page, which the first one says: `14:33 UTC`, `14:33:05`.
 *
 * @param s seconds since the epoch
 */
function clockText(s: number, i: number): string {
  const time = new Date(s * 1000).toISOString().slice(11, 19)
  const short = time.endsWith(':00') ? time.slice(0, 5) : time
  return i === 0 ? `${short} UTC` : short
}

/** The readings, with nothing between those that do not follow each other. */
function dataOf(history: readonly Point[]): uPlot.AlignedData {
  const times: number[] = []
  const counts: (number | null)[] = []
  for (const point of history) {
    if (point.isAfterGap && times.length > 0) {
      times.push((point.at - 1) / 1000)
      counts.push(null)
    }
    times.push(point.at / 1000)
    counts.push(refusedIn(point))
  }
  return [times, counts]
}

function refusedIn({ exhausted, banned, blocked }: Point): number {
  return exhausted + banned + blocked
}
