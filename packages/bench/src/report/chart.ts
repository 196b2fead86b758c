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
const STYLE = `
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

export interface Bar {
  readonly name: string
  readonly isOurs: boolean
  readonly value: number
  /** What stands behind it. */
  readonly words: string
  /** Where a line over it begins and ends. */
  readonly spread?: readonly [from: number, to: number]
}

export interface Panel {
  readonly heading: string
  readonly bars: readonly Bar[]
  /** The value of a bar that is as long as the panel. */
  readonly most: number
}

export interface Chart {
  readonly panels: readonly Panel[]
  readonly footer: readonly string[]
  /** What the picture shows, for those who do not see it. */
  readonly label: string
  /** Panels beside each other: 1 for a narrow screen. */
  readonly columns: 1 | 2
}

/**
 * An SVG with a panel of bars for each measurement that has a heading for it, and no median below 0:
 * medians, and a line over the middle half of the rounds.
 */
export function toChart(
  { measurements, date, machine, versions }: Results,
  columns: 1 | 2 = 2,
): string {
  return drawChart({
    panels: measurements.filter(({ chart }) => chart !== undefined).flatMap(panelOf),
    footer: [
      'Medians, with the middle half of the rounds; shorter is better',
      machine.CPU as string,
      `Node ${versions.Node}`,
      date.slice(0, 10),
    ],
    label: 'Sluice compared with other rate limiters; shorter bars are better',
    columns,
  })
}

/** The panel of a measurement; none if the noise is more than what is shown, and a median below 0. */
function panelOf({ chart = '', unit, reference, rows }: Measurement): Panel[] {
  // Ours first, then the peers, the best at the top.
  const peers = rows.filter(isPeer).toSorted((a, b) => median(a.samples) - median(b.samples))
  const shown = [...rows.filter(({ contender }) => contender === reference), ...peers]
  if (!shown.every(({ samples }) => median(samples) > 0)) return []
  const most = Math.max(...shown.map(({ samples }) => quantile(samples, 0.75)))
  return [{ heading: chart, bars: shown.map((row) => barOf(row, unit)), most }]
}

function barOf(row: Row, unit: Unit): Bar {
  const value = median(row.samples)
  return {
    name: row.contender.split(/[ ,]/, 1)[0] as string,
    isOurs: !isPeer(row),
    value,
    words: `${format(value, unit)} ${unit}`,
    spread: [quantile(row.samples, 0.25), quantile(row.samples, 0.75)],
  }
}

export function drawChart({ panels, footer: words, label, columns }: Chart): string {
  const width = columns * (PANEL + GAP) + GAP
  let top = GAP
  const drawn = panels.map((panel, i) => {
    const column = i % columns
    const row = panels.slice(i - column, i - column + columns)
    const svg = draw(panel, GAP + column * (PANEL + GAP), top)
    if (panel === row.at(-1)) top += Math.max(...row.map(heightOf)) + GAP
    return svg
  })
  const lines = columns === 1 ? words : [words.join(' · ')]
  const footer = lines.map((line, i) => {
    return `<text x="${GAP}" y="${top + i * LINE}">${escaped(line)}</text>`
  })
  const height = top + (lines.length - 1) * LINE + GAP / 2
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${label}">
<style>${STYLE}</style>
${drawn.join('\n')}
${footer.join('\n')}
</svg>
`
}

function heightOf({ bars }: Panel): number {
  return HEADING + bars.length * LINE
}

function draw({ heading, bars, most }: Panel, left: number, top: number): string {
  return [
    `<text class="heading" x="${left}" y="${top + 12}">${escaped(heading)}</text>`,
    ...bars.map((bar, i) => drawBar(bar, most, left, top + HEADING + i * LINE)),
  ].join('\n')
}

function drawBar(bar: Bar, most: number, left: number, top: number): string {
  const start = left + LABEL
  // The lower quartile of noise may be negative; a sliver shows that there is a bar.
  const length = (of: number) => Math.max(1, (BAR * of) / most)
  const width = length(bar.value).toFixed(1)
  const spread = bar.spread?.map((at) => start + length(at)) ?? []
  const baseline = top + THICKNESS - 3
  const ours = bar.isOurs ? 'ours ' : ''
  const [from = 0, to = 0] = spread
  return [
    `<text class="${ours}label" x="${start - 8}" y="${baseline}">${escaped(bar.name)}</text>`,
    `<rect class="${ours}bar" x="${start}" y="${top}" width="${width}" height="${THICKNESS}" rx="2"/>`,
    ...(bar.spread
      ? [`<path class="spread" d="M${from.toFixed(1)} ${top + THICKNESS / 2}H${to.toFixed(1)}"/>`]
      : []),
    `<text class="${ours}value" x="${(Math.max(start + length(bar.value), to) + 6).toFixed(1)}" y="${baseline}">${bar.words}</text>`,
  ].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
