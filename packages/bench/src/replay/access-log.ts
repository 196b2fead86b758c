import { closeSync, openSync, writeSync } from 'node:fs'
import { random } from '@sluice/test-harness/random'

/** Lines that are written at once. */
const BLOCK = 10_000
/** 2026-11-21 00:00 UTC. */
const START_MS = 1_795_219_200_000
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export interface AccessLog {
  readonly lines: number
  readonly clients: number
  /** The length of the log. */
  readonly hours: number
}

/**
 * Writes a combined log, the same every time: requests evenly over the time, of clients of which
 * few send most (the busiest hundredth a fifth of all requests).
 */
export function writeAccessLog(file: string, { lines, clients, hours }: AccessLog): void {
  const next = random(1)
  const handle = openSync(file, 'w')
  for (let from = 0; from < lines; from += BLOCK) {
    const block: string[] = []
    for (let i = from; i < Math.min(lines, from + BLOCK); i += 1) {
      const at = START_MS + Math.floor((i / lines) * hours * 3600) * 1000
      block.push(line(Math.floor(clients * next() ** 3), at, i))
    }
    writeSync(handle, block.join(''))
  }
  closeSync(handle)
}

function line(client: number, atMs: number, i: number): string {
  const address = `${10 + (client >> 16)}.${(client >> 8) & 255}.${client & 255}.7`
  const request = `GET /api/items/${i % 5000}?page=${i % 7} HTTP/1.1`
  return (
    `${address} - - [${clock(atMs)} +0000] "${request}" 200 ${1000 + (i % 9000)} ` +
    '"https://example.com/items" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"\n'
  )
}

let clockMs = 0
let clockText = ''

function clock(ms: number): string {
  if (ms === clockMs) return clockText
  const [date = '', time] = new Date(ms).toISOString().slice(0, 19).split('T')
  const [year, month, day] = date.split('-')
  clockMs = ms
  clockText = `${day}/${MONTHS[Number(month) - 1]}/${year}:${time}`
  return clockText
}
