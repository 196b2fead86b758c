import { Clients } from '../clients.ts'
import { LogEntry } from '../log-entry.ts'
import { masked } from '../mask.ts'
import { CombinedFormat } from './combined.ts'
import { type FieldNames, USUAL_NAMES } from './field-names.ts'
import type { FormatName } from './reading.ts'

/** Lines looked at: the first ones may be garbage. */
const LINES = 10

/** The formats, for messages. */
export const EXPECTED =
  'lines of a combined log (203.0.113.7 - - [21/Nov/2026:14:33:45 +0000] "GET / HTTP/1.1" 200 512), ' +
  'JSON objects, or CSV with a header'

/** The format of a log by its beginning; undefined if it is none. */
export function detectFormat(beginning: Buffer, fields: FieldNames): FormatName | undefined {
  const text = beginning.toString('utf8').replace(/^\ufeff/, '')
  const lines = text.split(/\r?\n/, LINES).filter((line) => line !== '')
  if (lines.some(isCombined)) return 'combined'
  if (lines.some(isJson)) return 'json'
  return isHeader(lines[0] ?? '', fields) ? 'csv' : undefined
}

function isCombined(line: string): boolean {
  const bytes = Buffer.from(line)
  const format = new CombinedFormat({
    clients: new Clients(),
    fields: {},
    whole: false,
    mask: masked,
  })
  return format.read(bytes, 0, bytes.length, new LogEntry()) === undefined
}

function isJson(line: string): boolean {
  return /^\s*\{.*"/.test(line)
}

/** The names of columns, of which one is the time. */
function isHeader(line: string, { time }: FieldNames): boolean {
  const names = line.split(/[,;\t]/).map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
  const times: readonly string[] = time === undefined ? USUAL_NAMES.time : [time]
  return names.length > 1 && names.some((name) => times.includes(name))
}
