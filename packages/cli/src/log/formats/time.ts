/**
 * The smallest number that is taken for ms since the epoch, not seconds: the year 1973 in ms, 5138 in seconds.
 */
const FIRST_MS = 1e11
/** A larger number is neither. The year 5138 in ms. */
const LAST_MS = 1e14

const ISO =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i
const NUMBER = /^-?\d+(\.\d+)?$/

/**
 * Ms since the epoch, from epoch seconds (whole or not), epoch milliseconds, or ISO 8601, which is
 * UTC if it names no zone; negative before 1970. NaN for anything else.
 */
export function readTime(value: unknown): number {
  if (typeof value === 'number') return fromNumber(value)
  if (typeof value !== 'string') return Number.NaN
  return NUMBER.test(value) ? fromNumber(Number(value)) : fromText(value)
}

/** Why no limit can be played at that time; undefined: it can. @param timeMs since the epoch */
export function whyOutOfReach(timeMs: number): string | undefined {
  if (timeMs < 0) return 'the time is before 1970'
  return timeMs < LAST_MS ? undefined : 'the time is after the year 5138'
}

function fromNumber(value: number): number {
  if (!(Math.abs(value) < LAST_MS)) return Number.NaN
  return value < FIRST_MS ? Math.round(value * 1000) : Math.floor(value)
}

function fromText(text: string): number {
  const [, date, time = '00:00', zone = 'Z'] = ISO.exec(text) ?? []
  if (date === undefined) return Number.NaN
  return Date.parse(`${date}T${time.replace(',', '.')}${withColon(zone.toUpperCase())}`)
}

/** `+0200` and `+02` as `+02:00`. */
function withColon(zone: string): string {
  return zone.replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`)
}
