import { median, quantile } from '../statistics/quartiles.ts'
import { format } from './format.ts'
import { isPeer, type Measurement, type Results, type Row, type Unit } from './results.ts'

// All lengths in px.
const GAP = 40
const PANEL = 380
const LABEL = 140
const VALUE = 70
const BAR = PANEL - LABEL - VALUE
const HEADING = 30
const LINE = 24
const THICKNESS = 14

/** In the colours of `@sluice/ui/tokens.css`, which a picture cannot import. */
export const STYLE = `
  text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #5c6470 }
  .heading { font-weight: 600; font-size: 14px; fill: #1d222a }
  .label { text-anchor: end }
  .bar { fill: #b6bfc9 }
  .ours.bar { fill: #2e58ca }
  .spread { stroke: #1d222a; stroke-opacity: 0.6; stroke-width: 2 }
  text.ours { font-weight: 600; fill: #2e58ca }
  @media (prefers-color-scheme: dark) {
    text { fill: #a0a8b4 }
    .heading { fill: #e8ebf0 }
    .bar { fill: #565e68 }
    .ours.bar { fill: #8fb3ff }
    .spread { stroke: #e8ebf0 }
    text.ours { fill: #8fb3ff }
  }
`

/**
 * An SVG with a panel of bars for each measurement that has a heading for it, and no median below 0:
 * medians, and a line over the middle half of the rounds.
 *
 * @param columns panels beside each other: 1 for a narrow screen
 */
export function toChart(
  { measurements, date, machine, versions }: Results,
  columns: 1 | 2 = 2,
): string {
  const width = columns * (PANEL + GAP) + GAP
  const rows = panelRows(measurements, columns)
  let top = GAP
  const panels = rows.flatMap((row) => {
    const drawn = row.map((measurement, column) => {
      return panel(measurement, GAP + column * (PANEL + GAP), top)
    })
    top += Math.max(...row.map(heightOf)) + GAP
    return drawn
  })
  const words = [
    'Medians, with the middle half of the rounds; shorter is better',
    machine.CPU as string,
    `Node ${versions.Node}`,
    date.slice(0, 10),
  ]
  const lines = columns === 1 ? words : [words.join(' · ')]
  const footer = lines.map((line, i) => {
    return `<text x="${GAP}" y="${top + i * LINE}">${escaped(line)}</text>`
  })
  const height = top + (lines.length - 1) * LINE + GAP / 2
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  const label = 'Sluice compared with other rate limiters; shorter bars are better'
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${label}">
<style>${STYLE}</style>
${panels.join('\n')}
${footer.join('\n')}
</svg>
`
}

function panelRows(measurements: readonly Measurement[], columns: number): Measurement[][] {
  const shown = measurements.filter((each) => each.chart !== undefined && isMeasured(each))
  const count = Math.ceil(shown.length / columns)
  return Array.from({ length: count }, (_, i) => shown.slice(i * columns, (i + 1) * columns))
}

/** Whether the noise is less than what is shown: it can make what a limiter adds look negative. */
function isMeasured(measurement: Measurement): boolean {
  return bars(measurement).every(({ samples }) => median(samples) > 0)
}

/** The bars: ours first, then the peers, the best at the top. */
function bars({ reference, rows }: Measurement): Row[] {
  const peers = rows.filter(isPeer).toSorted((a, b) => median(a.samples) - median(b.samples))
  return [...rows.filter(({ contender }) => contender === reference), ...peers]
}

function heightOf(measurement: Measurement): number {
  return HEADING + bars(measurement).length * LINE
}

function panel(measurement: Measurement, left: number, top: number): string {
  const rows = bars(measurement)
  const most = Math.max(...rows.map(({ samples }) => quantile(samples, 0.75)))
  return [
    `<text class="heading" x="${left}" y="${top + 12}">${escaped(measurement.chart ?? '')}</text>`,
    ...rows.map((row, i) => bar(row, measurement.unit, most, left, top + HEADING + i * LINE)),
  ].join('\n')
}

function bar(row: Row, unit: Unit, most: number, left: number, top: number): string {
  const value = median(row.samples)
  const start = left + LABEL
  // The lower quartile of noise may be negative; a sliver shows that there is a bar.
  const length = (of: number) => Math.max(1, (BAR * of) / most)
  const width = length(value).toFixed(1)
  const at = (share: number) => start + length(quantile(row.samples, share))
  const [from, to] = [at(0.25), at(0.75)]
  const baseline = top + THICKNESS - 3
  const ours = isPeer(row) ? '' : 'ours '
  const name = row.contender.split(/[ ,]/, 1)[0] as string
  const figure = `${format(value, unit)} ${unit}`
  return [
    `<text class="${ours}label" x="${start - 8}" y="${baseline}">${escaped(name)}</text>`,
    `<rect class="${ours}bar" x="${start}" y="${top}" width="${width}" height="${THICKNESS}" rx="2"/>`,
    `<path class="spread" d="M${from.toFixed(1)} ${top + THICKNESS / 2}H${to.toFixed(1)}"/>`,
    `<text class="${ours}value" x="${(Math.max(start + length(value), to) + 6).toFixed(1)}" y="${baseline}">${figure}</text>`,
  ].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
