import { openSync, readFileSync, writeSync } from 'node:fs'
import type { Decision } from '@sluice/core'
import type { Answer, Asked, Operation, Outage } from './history.ts'

/** The deadline of the limiters, ms. A call that ends before has failed: then nobody carries it out any more. */
export const DEADLINE_MS = 2000
/** How long a store may still carry out a call that was given up at the deadline, ms. */
const LATE_MS = 1000

/** How far a store's clock may get from the machine's in a recording, ms. */
const CLOCK_SLACK_MS = 3

/** A line of a log: a call, or its end, which is null if the process has given up. */
type Line =
  | readonly [id: number, time: number, key: string, asked: Asked]
  | readonly [id: number, time: number, answer: Answer | 'done' | null]

/** ms on the machine's monotonic clock, which all processes share. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** The machine's clock minus the monotonic one, ms. Between two reads of clocks, others may have had the core. */
function clockAhead(): number {
  return Math.max(...Array.from({ length: 100 }, () => Date.now() - monotonic()))
}

/** What a process writes down of its calls. It is in the file before the process goes on, so kill -9 loses nothing. */
export class Log {
  readonly #file: number
  #calls = 0

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  /** @returns its number */
  call(key: string, asked: Asked): number {
    this.#calls += 1
    this.#write([this.#calls, monotonic(), key, asked])
    return this.#calls
  }

  answered(id: number, { at, allowed, policies }: Decision): void {
    const time = monotonic()
    const said = policies.map(({ allowed, remaining, resetMs, retryAfterMs, delayMs }) => {
      return { allowed, remaining, resetMs, retryAfterMs, delayMs }
    })
    this.#write([id, time, { at, allowed, policies: said }])
  }

  done(id: number): void {
    this.#write([id, monotonic(), 'done'])
  }

  gaveUp(id: number): void {
    this.#write([id, monotonic(), null])
  }

  #write(line: Line): void {
    writeSync(
      this.#file,
      `${JSON.stringify(line, (_, value) => (value === Infinity ? NEVER : value))}\n`,
    )
  }
}

const NEVER = 'never'

/** How a store tells the time. */
export interface StoreClock {
  /** Whether a process decides for which time it asks: not after it has given up. */
  readonly isReadByProcess: boolean
  /** How much earlier than the call that time may be, ms. */
  readonly earlyMs: number
  /** How much earlier than an answer that was given before another may be, ms. */
  readonly backMs: number
}

/** What is known of the process that wrote a log, and of its store. */
export interface Circumstances {
  readonly process: number
  /** When the process had been killed, and the store had nothing more to do for it, ms on the monotonic clock. */
  readonly ended: number
  readonly clock: StoreClock
  /** When nothing could be carried out, by the keys that it concerned. */
  readonly outages: ReadonlyMap<string, Outage>
}

/** Reads the log of a process: its operations, by their keys. */
export function readLog(
  path: string,
  { process, ended, clock, outages }: Circumstances,
): ReadonlyMap<string, readonly Operation[]> {
  const ahead = clockAhead()
  const calls = new Map<number, readonly [string, Operation]>()
  const put = (
    id: number,
    key: string,
    span: Pick<Operation, 'asked' | 'called' | 'over'>,
    known: Pick<Operation, 'isCertain' | 'answer'>,
    gaveUp = ended,
  ) => {
    const from = Math.floor(span.called + ahead) - CLOCK_SLACK_MS - clock.earlyMs
    const last = clock.isReadByProcess ? Math.min(span.over, gaveUp) : span.over
    const to = Math.ceil(last + ahead) + CLOCK_SLACK_MS
    calls.set(id, [key, { process, ...span, ...known, from, to }])
  }
  // What follows the last end of a line was not written whole.
  for (const text of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    const line = JSON.parse(text, (_, value) => (value === NEVER ? Infinity : value)) as Line
    const [id, time] = line
    if (line.length === 4) {
      const [, called, key, asked] = line
      put(id, key, { asked, called, over: ended }, { isCertain: false })
      continue
    }
    const [key, { asked, called }] = calls.get(id) as readonly [string, Operation]
    const [, , answer] = line
    if (answer === 'done') put(id, key, { asked, called, over: time }, { isCertain: true })
    else if (answer !== null)
      put(id, key, { asked, called, over: time }, { isCertain: true, answer })
    else {
      const over = lastMoment(called, time, outages.get(key))
      if (over < called) calls.delete(id)
      else put(id, key, { asked, called, over }, { isCertain: false }, time)
    }
  }
  const byKey = new Map<string, Operation[]>()
  for (const [key, operation] of calls.values()) {
    const operations = byKey.get(key) ?? []
    byKey.set(key, operations)
    operations.push(operation)
  }
  return byKey
}

/** Until when a call that a process has given up can have been carried out; before it was called: never. */
function lastMoment(called: number, gaveUp: number, outage: Outage | undefined): number {
  if (gaveUp - called >= DEADLINE_MS) return gaveUp + LATE_MS
  if (outage === undefined || gaveUp < outage.from || called > outage.to) return gaveUp
  if (called > outage.from) return gaveUp < outage.to ? -Infinity : gaveUp
  return outage.from
}
