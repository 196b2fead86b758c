import type { Report } from '../report.ts'
import { colourOf } from './colour.ts'
import { Html } from './html.ts'
import { DATA_ID, type PageData } from './page/data.ts'
import { drawnRuns } from './sections/timeline.ts'

/** The data of the charts, as JSON in which nothing can end the element. */
export function dataElement({ timeline, runs, demand }: Report): Html {
  const data: PageData = {
    timeline: { startMs: timeline.startMs, stepMs: timeline.stepMs },
    runs: drawnRuns(runs).map((run) => ({
      colour: colourOf(run),
      admitted: run.admittedTimeline,
      refused: run.refusedTimeline,
    })),
    demand: demand
      .filter(({ bins }) => bins.length > 0)
      .map(({ bins, limits }) => ({ bins, limits })),
  }
  const json = JSON.stringify(data).replaceAll('<', '\\u003c')
  return new Html(`<script type="application/json" id="${DATA_ID}">${json}</script>`)
}
