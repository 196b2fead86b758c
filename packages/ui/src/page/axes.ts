import type uPlot from 'uplot'
import { colour } from './colour.ts'

const compact = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 })

/** An axis without ticks, in the quiet colours of the theme. */
export function plainAxis(axis: uPlot.Axis = {}): uPlot.Axis {
  return {
    stroke: colour('--muted'),
    font: '12px system-ui, sans-serif',
    labelFont: '12px system-ui, sans-serif',
    labelGap: 4,
    ticks: { show: false },
    ...axis,
    grid: { stroke: colour('--line'), width: 1, ...axis.grid },
  }
}

/** A vertical axis of counts: whole numbers, short where they are large. */
export function countAxis(axis: uPlot.Axis = {}): uPlot.Axis {
  return plainAxis({
    size: 44,
    gap: 6,
    space: 28,
    values: (_, counts) =>
      counts.map((count) => (Number.isInteger(count) ? compact.format(count) : '')),
    ...axis,
  })
}
