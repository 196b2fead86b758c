import { markdownTable } from 'markdown-table'
import { differences, isDistinguishable } from '../statistics/differences.ts'
import { interquartileRange, median } from '../statistics/quartiles.ts'
import { format, ratio } from './format.ts'
import { judge } from './goals.ts'
import { bestOf } from './measurement.ts'
import type { Measurement, Results, Row } from './results.ts'

/** The results as Markdown, which is laid out so that a terminal shows it as well. */
export function toMarkdown(results: Results): string {
  const { date, seconds, machine, versions, measurements } = results
  return [
    facts({ date, ...machine, took: `${Math.round(seconds)} s` }),
    facts(versions),
    ...measurements.map(measurementTable),
    `### The goals\n\n${goalTable(measurements)}`,
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
    const spread = `± ${format(interquartileRange(row.samples) / 2, unit)}`
    const figures = [format(median(row.samples), unit), format(bestOf(row), unit), spread]
    return [row.contender, ...figures, ...(against ? [ratioTo(row, against)] : [])]
  })
  const align = ['l', 'r', 'r', 'r', 'r'].slice(0, head.length)
  return markdownTable([head, ...body], { align })
}

/** How many times the reference it is, where the rounds tell them apart. */
function ratioTo(row: Row, reference: Row): string {
  if (row === reference) return '1'
  if (!isDistinguishable(differences(row.samples, reference.samples))) return 'not distinguishable'
  return ratio(median(row.samples), median(reference.samples))
}

/** The goals, with the ratios of medians. */
export function goalTable(measurements: readonly Measurement[]): string {
  const goals = judge(measurements)
  const body = goals.map(({ work, ours, peer, figure, peerFigure, atMost, ...goal }, i) => {
    const title = goals[i - 1]?.work === work ? '' : work
    const medians = ratio(figure, peerFigure)
    const verdict = goal.verdict === 'not met' ? '**not met**' : goal.verdict
    return `| ${[title, ours, peer, medians, `≤ ${atMost} ×`, verdict].join(' | ')} |`
  })
  const head = ['| work | | beside | ratio | goal | verdict |', '|---|---|---|---:|---:|---|']
  return [...head, ...body].join('\n')
}
