import { count } from '@sluice/terminal/words'
import { countAxis, createChart, faint, plainAxis, uPlot } from '@sluice/ui/page'
import { placeOf, rangeOf } from '../bins.ts'
import type { PageData } from './data.ts'
import { limitLines } from './limit-lines.ts'
import { createScrub } from './scrub.ts'

type Demand = PageData['demand'][number]

const HEIGHT = 260
/** Px that a label of the horizontal axis takes. */
const LABEL = 64

const powersOfTen = (_: uPlot, splits: number[]) =>
  splits.map((split) => (Number.isInteger(Math.log10(split)) ? split : null))

const LOGARITHMIC: uPlot.Axis = {
  label: 'Clients, log scale',
  filter: powersOfTen,
  grid: { filter: powersOfTen },
}

/**
 * Bars of one width for the bins, however wide they are, with the limits at their places between
 * and in them. The horizontal axis counts bins.
 */
export function drawDemand(element: HTMLElement, { bins, limits }: Demand): void {
  const output = element.querySelector('output')!
  const total = output.textContent!
  const places = limits.map((limit) => placeOf(limit, bins))
  const width = Math.max(bins.length, ...places.map((place) => place + 0.5))
  const most = Math.max(1, ...bins.map(({ clients }) => clients))
  const logarithmic = most > 100

  const scrub = createScrub(
    element.querySelector<HTMLInputElement>('.scrub input')!,
    {
      stepAt: (x) => Math.min(bins.length - 1, Math.max(0, Math.floor(x))),
      middleOf: (bin) => bin + 0.5,
      nameOf: (bin) => `Peak ${rangeOf(bins[bin]!)}`,
    },
    (bin) => {
      output.textContent = bin === undefined ? total : count(bins[bin]!.clients, 'client')
    },
  )

  const chart = createChart(
    element.querySelector<HTMLElement>('.plot')!,
    {
      height: HEIGHT,
      padding: [12 + 18 * limits.length, 28, 0, 0],
      legend: { show: false },
      cursor: scrub.cursor,
      scales: {
        x: { time: false, range: () => [0, width] },
        y: logarithmic
          ? { distr: 3, range: () => [0.7, most * 1.4] }
          : { range: () => [0, most * 1.08] },
      },
      axes: [
        plainAxis({
          size: 24,
          gap: 6,
          grid: { show: false },
          label: 'Peak: requests, each with its cost',
          labelSize: 22,
          splits: (chart) => middles(bins.length, chart.over.clientWidth),
          values: (_, middles) => middles.map((middle) => rangeOf(bins[Math.floor(middle)]!)),
        }),
        countAxis({ label: 'Clients', labelSize: 20, ...(logarithmic && LOGARITHMIC) }),
      ],
      series: [
        {},
        {
          fill: (chart) => partedAt(Math.min(...places), chart),
          width: 0,
          paths: uPlot.paths.bars!({
            size: [0.86, Number.POSITIVE_INFINITY],
            align: 1,
            radius: 0.15,
          }),
          points: { show: false },
        },
      ],
      plugins: [limitLines(limits.map((limit, i) => ({ limit, place: places[i]! })))],
    },
    // A logarithmic axis has no zero.
    [bins.map((_, i) => i), bins.map(({ clients }) => (clients > 0 ? clients : null))],
  )
  scrub.attach([chart])
}

const within = faint('--admitted', 0.8)
const beyond = faint('--refused', 0.8)

/** One colour up to a place on the horizontal axis, another beyond it. */
function partedAt(place: number, { bbox, ctx, scales }: uPlot): CanvasGradient {
  const gradient = ctx.createLinearGradient(bbox.left, 0, bbox.left + bbox.width, 0)
  const part = Math.min(1, place / scales.x!.max!)
  gradient.addColorStop(0, within())
  gradient.addColorStop(part, within())
  gradient.addColorStop(part, beyond())
  gradient.addColorStop(1, beyond())
  return gradient
}

/**
 * The middles of every bin, or of every second, third, …: as many as have room.
 * @param width px
 */
function middles(bins: number, width: number): number[] {
  const every = Math.max(1, Math.ceil((bins * LABEL) / width))
  return Array.from({ length: Math.ceil(bins / every) }, (_, i) => i * every + 0.5)
}
