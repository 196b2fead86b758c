import { STYLE } from '../report/chart.ts'
import type { Run } from './job.ts'

// All lengths in px.
const GAP = 32
const PANEL = 360
const LABEL = 150
const VALUE = 90
const LINE = 22
const THICKNESS = 12
const HEADING = 26
/** Goodput at the end of a bar that is as long as the panel. */
const FULL = 1.1

const NAMES: { readonly [handler: string]: string } = {
  cpu: 'computes for 10 ms',
  database: 'waits for a slow database',
  mix: 'waits for it, and computes for 5 ms',
}

/** Goodput at 3 and at 10 times the capacity, as an SVG for wide screens and one for narrow ones. */
export function overloadChart(
  medians: readonly Run[],
  footer: string,
): { chart: string; narrow: string } {
  return { chart: draw(medians, footer, 2), narrow: draw(medians, footer, 1) }
}

function draw(medians: readonly Run[], footer: string, columns: number): string {
  const groups = Object.keys(NAMES).flatMap((handler) =>
    [3, 10].map((load) => medians.filter((run) => run.handler === handler && run.load === load)),
  )
  const shown = groups.filter((group) => group.length > 0)
  const panelHeight = HEADING + LINE * Math.max(...shown.map(({ length }) => length)) + GAP
  const panels = shown.map((group, i) =>
    panel(group, GAP + (i % columns) * (PANEL + GAP), GAP + Math.floor(i / columns) * panelHeight),
  )
  const width = columns * (PANEL + GAP) + GAP
  const height = GAP + Math.ceil(shown.length / columns) * panelHeight + LINE
  const words = `Answers within 1 s, beside what the server can do · medians · ${footer}`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Answers within a second of an overloaded server, by protection; longer bars are better">
<style>${STYLE}</style>
${panels.join('\n')}
<text x="${GAP}" y="${height - 12}">${words}</text>
</svg>
`
}

function panel(group: readonly Run[], left: number, top: number): string {
  const [{ handler, load }] = group as [Run]
  const bars = group.map(({ contender, goodput, critical }, i) => {
    const y = top + HEADING + i * LINE
    const ours = contender === 'sluice' ? ' ours' : ''
    const length = (Math.min(goodput, FULL) / FULL) * (PANEL - LABEL - VALUE)
    const name = contender === 'none' ? 'no protection' : contender
    const words = `${goodput.toFixed(2)}, critical ${Math.round(critical * 100)} %`
    return `<text class="label${ours}" x="${left + LABEL - 8}" y="${y + THICKNESS}">${name}</text>
<rect class="bar${ours}" x="${left + LABEL}" y="${y + 1}" width="${length.toFixed(1)}" height="${THICKNESS}" rx="2"/>
<text class="${ours.trim()}" x="${left + LABEL + length + 6}" y="${y + THICKNESS}">${words}</text>`
  })
  return `<text class="heading" x="${left}" y="${top}">${load} × capacity, a handler that ${NAMES[handler]}</text>\n${bars.join('\n')}`
}
