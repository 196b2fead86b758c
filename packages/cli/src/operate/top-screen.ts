import type pico from 'picocolors'
import { printable } from '../report/printable.ts'
import { count, duration, number, percent } from '../report/words.ts'
import type { Order, RankedRecord, Sweep } from './sweep.ts'
import { keyText, policyText, standingText } from './words.ts'

type Colors = ReturnType<typeof pico.createColors>

/** What is on the screen. */
export interface Screen {
  /** Undefined: nothing has been read yet. */
  readonly sweep: Sweep | undefined
  /** Why the last reading failed. */
  readonly problem: string | undefined
  readonly order: Order
  readonly isPaused: boolean
  readonly columns: number
  readonly rows: number
}

/** Lines for the summary, the headings and the keys of the keyboard. */
const FRAME = 4

const HEADINGS = ['client', 'policy', 'used', 'per second', 'standing'] as const

/** The lines of the screen, no more and no wider than it is. */
export function screenOf(screen: Screen, colors: Colors): string[] {
  const { sweep, order, isPaused, problem, columns, rows } = screen
  const shown = sweep?.top.slice(0, Math.max(1, rows - FRAME)) ?? []
  const [headings, ...table] = tableOf(shown)
  const keys = `q quit   s sort (by ${order})   p ${isPaused ? 'go on' : 'pause'}`
  const cut = (line: string) => line.slice(0, columns)
  return [
    cut(sweep === undefined ? 'reading the keys…' : summaryOf(sweep)),
    problem === undefined ? '' : colors.red(cut(printable(`not up to date: ${problem}`))),
    colors.bold(cut(headings as string)),
    ...table.map((line, i) => coloured(cut(line), shown[i] as RankedRecord, colors)),
    colors.dim(cut(isPaused ? `paused   ${keys}` : keys)),
  ]
}

/** The same without a terminal. */
export function linesOf(sweep: Sweep): string[] {
  return [summaryOf(sweep), ...tableOf(sweep.top)]
}

function summaryOf({ keys, exhausted, near, blocked, banned, at, tookMs }: Sweep): string {
  const time = new Date(at).toISOString().slice(11, 19)
  const parts = [
    count(keys, 'key'),
    `${number(exhausted)} at their limit`,
    `${number(near)} near it`,
    `${number(banned)} banned`,
    `${number(blocked)} blocked`,
  ]
  return `${time} UTC   ${parts.join(', ')}   read in ${duration(Math.round(tookMs))}`
}

function tableOf(records: readonly RankedRecord[]): string[] {
  const rows = records.map((record) => [
    printable(keyText(record)),
    printable(policyText(record)),
    record.share === undefined ? '-' : percent(record.share),
    record.rate === undefined ? '-' : number(Math.round(record.rate * 10) / 10),
    standingText(record),
  ])
  const all = [HEADINGS as readonly string[], ...rows]
  const widths = HEADINGS.map((_, i) => Math.max(...all.map((row) => (row[i] as string).length)))
  return all.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd(),
  )
}

function coloured(line: string, { standing }: RankedRecord, colors: Colors): string {
  if (standing === 'blocked' || standing === 'banned') return colors.magenta(line)
  return standing === 'exhausted' ? colors.red(line) : line
}
