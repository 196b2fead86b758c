import ms from 'ms'
import { SluiceError } from '../errors/sluice-error.ts'

type Unit = 'ms' | 's' | 'm' | 'h' | 'd' | 'w' | 'y'
type Word = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'year'

/** ms as an integer, or text with a unit: `'500ms'`, `'1m'`, `'15 minutes'`, `'1d'`. */
export type Duration = number | `${number}${Unit}` | `${number} ${Unit | Word | `${Word}s`}`

/** Ten years, ms. */
export const MAX_DURATION_MS = 315_576_000_000

/**
 * @param fix what to do about a value that is wrong
 * @returns ms, an integer from `minMs` to `maxMs`
 * @throws SluiceError if it is neither a duration nor in that range
 */
export function parseDuration(
  option: string,
  value: unknown,
  minMs = 1,
  maxMs = MAX_DURATION_MS,
  fix = `Write ${option}: '1m' or ${option}: 60_000 for a minute.`,
): number {
  const parsed = typeof value === 'string' ? parseText(value) : value
  if (typeof parsed === 'number' && Number.isInteger(parsed)) {
    if (parsed >= minMs && parsed <= maxMs) return parsed
  }
  throw new SluiceError({
    code: typeof parsed === 'number' ? 'SLUICE_OPTION_RANGE' : 'SLUICE_OPTION_TYPE',
    option,
    expected: `whole milliseconds as a number, or text with a unit such as '1m', from ${minMs} ms to ${spokenDuration(maxMs)}`,
    received: value,
    fix,
  })
}

/** `1 minute`: in the longest unit that divides it. */
export function spokenDuration(durationMs: number): string {
  return durationMs === MAX_DURATION_MS ? '10 years' : ms(durationMs, { long: true })
}

function parseText(text: string): number | undefined {
  if (text.length > 40 || !/[a-z]/i.test(text)) return undefined
  const parsed = ms(text as ms.StringValue) as number | undefined
  return parsed === undefined || Number.isNaN(parsed) ? undefined : parsed
}
