import { printable } from '@sluice/terminal/printable'
import { count, duration, number, percent } from '@sluice/terminal/words'
import type pico from 'picocolors'
import { keyText, policyText, standingText } from './entry-text.ts'
import type { Order } from './flags.ts'
import { unreadableText } from './reading.ts'
import type { RankedRecord, Sweep } from './sweep.ts'

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
  const { sweep, order, isPaused, columns, rows } = screen
  const shown = sweep?.top.slice(0, Math.max(1, rows - FRAME)) ?? []
  const [headings, ...table] = tableOf(shown)
  const keys = `q quit   s sort (by ${order})   p ${isPaused ? 'go on' : 'pause'}`
  const cut = (line: string) => line.slice(0, columns)
  return [
    cut(sweep === undefined ? 'reading the keys…' : summaryOf(sweep)),
    noteOf(screen, colors, cut),
    colors.bold(cut(headings as string)),
    ...table.map((line, i) => coloured(cut(line), shown[i] as RankedRecord, colors)),
    colors.dim(cut(isPaused ? `paused   ${keys}` : keys)),
  ]
}

/** Why the table is not all that there is. */
function noteOf({ sweep, problem }: Screen, colors: Colors, cut: (line: string) => string): string {
  if (problem !== undefined) return colors.red(cut(printable(`not up to date: ${problem}`)))
  const passedOver = sweep && unreadableText(sweep.unreadable)
  return passedOver === undefined ? '' : colors.red(cut(passedOver))
}

/** The lines that stand for the screen without a terminal. */
export function linesOf(sweep: Sweep): string[] {
  const passedOver = unreadableText(sweep.unreadable) ?? []
  return [summaryOf(sweep), passedOver, ...tableOf(sweep.top)].flat()
}

function summaryOf(sweep: Sweep): string {
  const { keys, exhausted, near, blocked, banned, at, tookMs, isComplete, looked } = sweep
  const time = new Date(at).toISOString().slice(11, 19)
  const parts = [
    count(keys, 'key'),
    `${number(exhausted)} at their limit`,
    `${number(near)} near it`,
    `${number(banned)} banned`,
    `${number(blocked)} blocked`,
  ]
  const took = duration(Math.round(tookMs))
  const how = isComplete
    ? `read in ${took}`
    : `reading for ${took}, looked at ${number(looked)} so far`
  return `${time} UTC   ${parts.join(', ')}   ${how}`
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
