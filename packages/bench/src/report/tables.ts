import { markdownTable } from 'markdown-table'
import { differences, isDistinguishable } from '../statistics/differences.ts'
import { interquartileRange } from '../statistics/quartiles.ts'
import { format, ratio } from './format.ts'
import { figureOf } from './measurement.ts'
import type { Bar, Measurement, Results, Row } from './results.ts'

/** The results as Markdown, which is laid out so that a terminal shows it as well. */
export function toMarkdown(results: Results): string {
  const { date, seconds, machine, versions, measurements, bars } = results
  return [
    facts({ date, ...machine, took: `${Math.round(seconds)} s` }),
    facts(versions),
    ...measurements.map(measurementTable),
    `### The goals\n\n${barTable(bars)}`,
  ].join('\n\n')
}

/** Facts on one line. */
export function facts(values: { readonly [name: string]: string }): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ')
}

/** A measurement under its title, with the ratios to its reference. */
export function measurementTable(measurement: Measurement): string {
  return `### ${measurement.title}\n\n${rowsOf(measurement)}`
}

function rowsOf({ unit, reference, rows }: Measurement): string {
  const against = rows.find(({ contender }) => contender === reference)
  const head = ['', `median, ${unit}`, 'best', 'quartiles', ...(against ? ['ratio'] : [])]
  const body = rows.map((row) => {
    const { median, best } = figureOf(row)
    const spread = `± ${format(interquartileRange(row.samples) / 2, unit)}`
    const figures = [format(median, unit), format(best, unit), spread]
    return [row.contender, ...figures, ...(against ? [ratioTo(row, against)] : [])]
  })
  const align = ['l', 'r', 'r', 'r', 'r'].slice(0, head.length)
  return markdownTable([head, ...body], { align })
}

/** How many times the reference it is, where the rounds tell them apart. */
function ratioTo(row: Row, reference: Row): string {
  if (row === reference) return '1'
  if (!isDistinguishable(differences(row.samples, reference.samples))) return 'not distinguishable'
  return ratio(figureOf(row).median, figureOf(reference).median)
}

/** The goals in short: the ratios of medians. */
export function goalTable(bars: readonly Bar[]): string {
  const goals = bars.flatMap((bar) => (bar.goal ? [{ ...bar, goal: bar.goal }] : []))
  const body = goals.map(({ work, contender, peer, figure, peerFigure, goal }, i) => {
    const title = goals[i - 1]?.work === work ? '' : work
    const medians = ratio(figure.median, peerFigure.median)
    const verdict = goal.verdict === 'not met' ? '**not met**' : goal.verdict
    return `| ${[title, contender, peer, medians, `≤ ${goal.atMost} ×`, verdict].join(' | ')} |`
  })
  const head = ['| work | | beside | ratio | goal | verdict |', '|---|---|---|---:|---:|---|']
  return [...head, ...body].join('\n')
}

/** The goals, each group with the floor of its work. */
export function barTable(bars: readonly Bar[]): string {
  const head = ['work', '', 'beside', 'median', 'best', 'goal', 'verdict']
  const body = bars.map((bar, i) => {
    const { work, unit, contender, figure, peer, peerFigure, goal } = bar
    const isFirst = bars[i - 1]?.work !== work
    return [
      isFirst ? `${work}, ${unit}` : '',
      contender,
      peer,
      against(figure.median, peerFigure.median, bar),
      against(figure.best, peerFigure.best, bar),
      goal ? `≤ ${goal.atMost} ×` : '',
      goal?.verdict === 'not met' ? '**not met**' : (goal?.verdict ?? ''),
    ]
  })
  return markdownTable([head, ...body], { align: ['l', 'l', 'l', 'r', 'r', 'r', 'l'] })
}

function against(value: number, other: number, { unit }: Bar): string {
  return `${format(value, unit)} : ${format(other, unit)} = ${ratio(value, other)}`
}
