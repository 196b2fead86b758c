import { markdownTable } from 'markdown-table'
import {
  differences,
  interquartileRange,
  isDistinguishable,
  median,
} from '../statistics/quartiles.ts'
import { format } from './format.ts'
import type { Bar, Measurement, Results, Row, Unit } from './results.ts'

/** The results as Markdown, which is laid out so that a terminal shows it as well. */
export function toMarkdown(results: Results): string {
  const { date, seconds, machine, versions, measurements, bars } = results
  return [
    facts({ date, ...machine, took: `${Math.round(seconds)} s` }),
    facts(versions),
    ...measurements.map(measurementTable),
    barTable(bars),
  ].join('\n\n')
}

function facts(values: { readonly [name: string]: string }): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ')
}

function measurementTable(measurement: Measurement): string {
  const { title, unit, reference, rows } = measurement
  const against = rows.find(({ contender }) => contender === reference)
  const head = ['', `median, ${unit}`, 'best', 'quartiles', ...(against ? ['ratio'] : [])]
  const body = rows.map((row) => {
    const { contender, samples } = row
    const figures = [format(median(samples), unit), format(best(samples, unit), unit)]
    const spread = `± ${format(interquartileRange(samples) / 2, unit)}`
    return [contender, ...figures, spread, ...(against ? [ratio(row, against)] : [])]
  })
  const align = ['l', 'r', 'r', 'r', 'r'].slice(0, head.length)
  return `### ${title}\n\n${markdownTable([head, ...body], { align })}`
}

function best(samples: readonly number[], unit: Unit): number {
  return unit === 'per second' ? Math.max(...samples) : Math.min(...samples)
}

/** How many times the reference it is, where the rounds tell them apart. */
function ratio({ samples }: Row, reference: Row): string {
  if (samples === reference.samples) return '1'
  if (!isDistinguishable(differences(samples, reference.samples))) return 'not distinguishable'
  const times = median(samples) / median(reference.samples)
  // What is added to a bare server can come out below nothing.
  return times > 0 ? `${times.toFixed(2)} ×` : '–'
}

function barTable(bars: readonly Bar[]): string {
  const head = ['', 'bar', 'ours', 'allowed', 'verdict']
  const body = bars.map(({ work, bar, unit, ours, allowed, verdict }) => {
    const figures = [`${format(ours, unit)} ${unit}`, `${format(allowed, unit)} ${unit}`]
    return [work, bar, ...figures, verdict === 'fail' ? '**fail**' : verdict]
  })
  const align = ['l', 'l', 'r', 'r', 'l']
  return `### The bars\n\n${markdownTable([head, ...body], { align })}`
}
