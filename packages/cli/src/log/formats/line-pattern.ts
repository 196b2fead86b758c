import { UsageError } from '@sluice/terminal/usage-error'
import { ClockTime } from './clock-time.ts'
import { unescapeField } from './escapes.ts'
import { readRequest } from './request-line.ts'

/** A field of a line, and the text that always stands before it. */
interface Part {
  readonly before: string
  /** As nginx calls it: `remote_addr`. */
  readonly name: string
}

/** The directives of Apache, by their names in nginx. */
const APACHE: Readonly<Record<string, string>> = {
  a: 'remote_addr',
  h: 'remote_addr',
  u: 'remote_user',
  t: 'time_local',
  r: 'request',
  m: 'request_method',
  U: 'uri',
  s: 'status',
  b: 'body_bytes_sent',
  B: 'body_bytes_sent',
}

/** Fields that Apache writes with braces, by the letter behind them. */
const APACHE_NAMED: Readonly<Record<string, (name: string) => string | undefined>> = {
  i: (name) => `http_${inWords(name)}`,
  o: (name) => `sent_http_${inWords(name)}`,
  a: () => 'remote_addr',
  t: (unit) => ({ sec: 'msec', msec: 'msec', usec: 'usec' })[unit],
}

const NGINX_FIELD = /\$(?:\{(\w+)\}|(\w+))/g
const APACHE_FIELD = /%[!\d,]*[<>]?(?:\{([^}]*)\})?([a-zA-Z])/g

/** A line as `log_format` of nginx or `LogFormat` of Apache describes it. */
export class LinePattern {
  readonly #parts: readonly Part[]
  /** The text behind the last field. */
  readonly #end: string
  readonly #clock = new ClockTime()
  #lastTime = ''
  #lastMs = Number.NaN

  /** @throws UsageError */
  constructor(text: string) {
    // As it stands in a configuration of Apache, within quotes.
    const pattern = text.replaceAll('\\"', '"')
    const isNginx = pattern.includes('$')
    const fields = [...pattern.matchAll(isNginx ? NGINX_FIELD : APACHE_FIELD)]
    let from = 0
    this.#parts = fields.map((field, i) => {
      const before = pattern.slice(from, field.index)
      from = field.index + field[0].length
      if (before === '' && i > 0)
        throw new UsageError(
          `--format: nothing tells where ${field[0]} begins, behind another field`,
        )
      return { before, name: isNginx ? (field[1] ?? (field[2] as string)) : apacheName(field) }
    })
    this.#end = pattern.slice(from)
  }

  /** The fields of a line by nginx's names, without those that are `-`; a text: which one it lacks. */
  split(line: string): Readonly<Record<string, unknown>> | string {
    const fields: Record<string, unknown> = {}
    let at = 0
    for (const [i, { before, name }] of this.#parts.entries()) {
      if (!line.startsWith(before, at)) return lacking(name)
      at += before.length
      const end = endOf(line, at, before, this.#parts[i + 1]?.before ?? this.#end)
      if (end < 0) return lacking(name)
      this.#set(fields, name, line.slice(at, end))
      at = end
    }
    return line.slice(at) === this.#end ? fields : lacking('end')
  }

  #set(fields: Record<string, unknown>, name: string, text: string): void {
    if (text === '-' || text === '') return
    if (name === 'time_local') fields.time = this.#timeOf(text)
    else if (name === 'usec') fields.time = Number(text) / 1000
    else fields[name] = unescapeField(text)
    if (name === 'request') readRequest(fields, fields.request as string)
  }

  /** @param text `21/Nov/2026:14:33:45 +0000`, in brackets or not */
  #timeOf(text: string): number | string {
    if (text !== this.#lastTime) {
      this.#lastTime = text
      this.#lastMs = this.#clock.read(Buffer.from(`${text.replace(/^\[|\]$/g, '')}]`), 0)
    }
    return Number.isNaN(this.#lastMs) ? text : this.#lastMs
  }
}

function lacking(name: string): string {
  return `no ${name} where the pattern has it`
}

/** Where a field ends that stands before `after`; -1: nowhere. */
function endOf(line: string, start: number, before: string, after: string): number {
  if (after === '') return line.length
  if (before.endsWith('"') && after.startsWith('"')) {
    let end = start
    while (end < line.length && line[end] !== '"') end += line[end] === '\\' ? 2 : 1
    return end < line.length ? end : -1
  }
  // The time of Apache has a space in its brackets.
  const from = line[start] === '[' ? line.indexOf(']', start) : start
  return from < 0 ? -1 : line.indexOf(after, from)
}

function apacheName([field, inBraces, letter]: RegExpExecArray): string {
  const name =
    inBraces === undefined
      ? (APACHE[letter as string] ?? letter)
      : (APACHE_NAMED[letter as string] ?? ((given: string) => given))(inBraces)
  if (name !== undefined) return name
  throw new UsageError(`--format: expected %t or %{sec}t, %{msec}t, %{usec}t, received '${field}'`)
}

function inWords(header: string): string {
  return header.toLowerCase().replaceAll('-', '_')
}

/** Whether a text is a pattern, and not the name of a format. */
export function isPattern(text: string): boolean {
  return text.search(NGINX_FIELD) >= 0 || text.search(APACHE_FIELD) >= 0
}
