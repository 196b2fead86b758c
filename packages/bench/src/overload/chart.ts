import { type Bar, drawChart } from '../report/chart.ts'

/** What the chart shows of a server at one load. */
export interface Shown {
  readonly handler: string
  readonly contender: string
  readonly load: number
  /** Answers within 1 s, beside the capacity. */
  readonly goodput: number
  /** The share of the critical requests that are answered within 1 s. */
  readonly critical: number
}

/** Goodput at the end of a bar that is as long as the panel: the words behind it need room. */
const FULL = 2.4

const NAMES = {
  cpu: 'computing for 10 ms',
  database: 'waiting for a database',
  mix: 'waiting, then computing',
}

/** Goodput at 3 and at 10 times the capacity, as an SVG. @param facts what the footer says of the machine */
export function overloadChart(
  medians: readonly Shown[],
  facts: readonly string[],
  columns: 1 | 2,
): string {
  const panels = Object.entries(NAMES).flatMap(([handler, does]) =>
    [3, 10].map((load) => ({
      heading: `${load} × capacity, ${does}`,
      bars: medians.filter((run) => run.handler === handler && run.load === load).map(barOf),
      most: FULL,
    })),
  )
  return drawChart({
    panels: panels.filter(({ bars }) => bars.length > 0),
    footer: ['Answers within 1 s, beside what the server can do', 'medians', ...facts],
    label: 'Answers within a second of an overloaded server, by protection; longer bars are better',
    columns,
  })
}

function barOf({ contender, goodput, critical }: Shown): Bar {
  return {
    name: contender === 'none' ? 'no protection' : contender,
    isOurs: contender === 'sluice',
    value: Math.min(goodput, FULL),
    words: `${goodput.toFixed(2)}, critical ${Math.round(critical * 100)} %`,
  }
}
