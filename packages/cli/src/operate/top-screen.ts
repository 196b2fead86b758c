import { columns } from '@sluice/terminal/columns'
import { printable } from '@sluice/terminal/printable'
import { count, duration, moment, number, percent } from '@sluice/terminal/words'
import type pico from 'picocolors'
import { keyText, policyText, rankedText } from './entry-text.ts'
import type { Order } from './flags.ts'
import type { RankedRecord, Ranking } from './ranking.ts'
import { unreadableText } from './reading.ts'

type Colors = ReturnType<typeof pico.createColors>

/** The content of the screen. */
export interface Screen {
  /** Undefined: nothing has been read yet. */
  readonly ranking: Ranking | undefined
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
  const { ranking, order, isPaused, columns: width, rows } = screen
  const shown = ranking?.top.slice(0, Math.max(1, rows - FRAME)) ?? []
  const [headings, ...table] = tableOf(shown)
  const keys = `q quit   s sort (by ${order})   p ${isPaused ? 'go on' : 'pause'}`
  const cut = (line: string) => line.slice(0, width)
  return [
    cut(ranking === undefined ? 'reading the keys…' : summaryOf(ranking)),
    noteOf(screen, colors, cut),
    colors.bold(cut(headings as string)),
    ...table.map((line, i) => coloured(cut(line), shown[i] as RankedRecord, colors)),
    colors.dim(cut(isPaused ? `paused   ${keys}` : keys)),
  ]
}

/** Why the table is not all that there is. */
function noteOf(
  { ranking, problem }: Screen,
  colors: Colors,
  cut: (line: string) => string,
): string {
  if (problem !== undefined) return colors.red(cut(printable(`not up to date: ${problem}`)))
  const passedOver = ranking && unreadableText(ranking.unreadable)
  if (passedOver !== undefined) return colors.red(cut(passedOver))
  return colors.magenta(cut((ranking && networksText(ranking)) ?? ''))
}

/** The lines that stand for the screen without a terminal. */
export function linesOf(ranking: Ranking): string[] {
  const notes = [unreadableText(ranking.unreadable) ?? [], networksText(ranking) ?? []].flat()
  return [summaryOf(ranking), ...notes, ...tableOf(ranking.top)]
}

/** Networks that are named; all of them are counted. */
const NAMED = 5

/** `2 networks blocked: 203.0.113.0/24 until 2026-11-24 12:44:10 UTC, …`; undefined if none is. */
function networksText({ networkCount, networks }: Ranking): string | undefined {
  if (networkCount === 0) return undefined
  const named = networks
    .slice(0, NAMED)
    .map(({ network, until }) => `${printable(network)} until ${moment(until)}`)
  const more = networkCount > NAMED ? `, and ${number(networkCount - NAMED)} more` : ''
  return `${count(networkCount, 'network')} blocked: ${named.join(', ')}${more}`
}

function summaryOf(ranking: Ranking): string {
  const { keys, exhausted, near, blocked, banned, at, tookMs, isComplete, looked } = ranking
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
    rankedText(record),
  ])
  return columns([HEADINGS, ...rows])
}

function coloured(line: string, { standing, shut }: RankedRecord, colors: Colors): string {
  if (standing === 'blocked' || standing === 'banned' || shut !== undefined)
    return colors.magenta(line)
  return standing === 'exhausted' ? colors.red(line) : line
}
