import { moment, number } from '@sluice/terminal/words'
import { colour, countAxis, createChart, faint, uPlot } from '@sluice/ui/page'
import type { PageData } from './data.ts'
import { createScrub } from './scrub.ts'
import { timeAxis } from './time-axis.ts'

type Run = PageData['runs'][number]
type View = 'both' | 'refused'

/** Px of each chart, without the text below and above it. */
const HEIGHT = 116
const GAP = 8
/** The height of the times below the last chart. */
const TIMES = 40

/** The charts of all runs, one below the other, on the same scales. */
export function drawTimeline(element: HTMLElement, { timeline, runs }: PageData): void {
  const { startMs, stepMs } = timeline
  const steps = runs[0]?.admitted.length ?? 0
  // One more than there are steps: the end of the last.
  const times = Array.from({ length: steps + 1 }, (_, step) => startMs + step * stepMs)
  const panels = [...element.querySelectorAll<HTMLElement>('.panel')]
  const outputs = panels.map((panel) => panel.querySelector('output')!)
  const totals = outputs.map((output) => output.textContent)
  let view: View = 'both'

  const scrub = createScrub(
    element.querySelector<HTMLInputElement>('.scrub input')!,
    {
      stepAt: (x) => Math.min(steps - 1, Math.max(0, Math.floor((x - startMs) / stepMs))),
      middleOf: (step) => startMs + (step + 0.5) * stepMs,
      nameOf: (step) => moment(startMs + step * stepMs),
    },
    (step) => {
      runs.forEach((run, i) => {
        outputs[i]!.textContent = step === undefined ? totals[i]! : figuresOf(run, step)
      })
    },
  )

  const highest = {
    both: Math.max(1, ...runs.flatMap((run) => run.admitted.map((n, i) => n + run.refused[i]!))),
    refused: Math.max(1, ...runs.flatMap((run) => run.refused)),
  }

  const charts = runs.map((run, i) => {
    const last = i === runs.length - 1
    const host = panels[i]!.querySelector<HTMLElement>('.plot')!
    const paths = uPlot.paths.stepped!({ align: 1 })
    return createChart(
      host,
      {
        height: GAP + HEIGHT + (last ? TIMES : GAP),
        ms: 1,
        tzDate: (ms) => uPlot.tzDate(new Date(ms), 'Etc/UTC'),
        padding: [GAP, 24, last ? 0 : GAP, 0],
        legend: { show: false },
        cursor: scrub.cursor,
        scales: {
          x: { range: () => [times[0]!, times[steps]!] },
          y: { range: () => [0, highest[view] * 1.04] },
        },
        axes: [timeAxis(last ? TIMES : 0), countAxis()],
        series: [
          {},
          { stroke: colour('--refused'), width: 1, paths, points: { show: false } },
          {
            stroke: colour(run.colour),
            width: 1.5,
            fill: faint(run.colour, 0.22),
            paths,
            points: { show: false },
          },
        ],
        bands: [{ series: [1, 2], fill: colour('--refused') }],
      },
      dataOf(run, view),
    )
  })
  scrub.attach(charts)

  for (const radio of element.querySelectorAll<HTMLInputElement>('input[name=view]'))
    radio.addEventListener('change', () => {
      view = radio.value as View
      charts.forEach((chart, i) => {
        chart.setData(dataOf(runs[i]!, view))
      })
    })

  /** All requests above the admitted, or the refused above nothing. */
  function dataOf({ admitted, refused }: Run, view: View): uPlot.AlignedData {
    const below = view === 'both' ? admitted : admitted.map(() => 0)
    const above = refused.map((n, i) => n + below[i]!)
    return [times, ending(above), ending(below)]
  }
}

/** A line of steps needs the end of the last one. */
const ending = (counts: readonly number[]) => [...counts, counts.at(-1) ?? 0]

const figuresOf = ({ admitted, refused }: Run, step: number) =>
  `${number(admitted[step]!)} admitted, ${number(refused[step]!)} refused`
