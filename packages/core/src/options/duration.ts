import { SluiceError } from '../errors/sluice-error.ts'

/** The units, longest first. A year has 365.25 days. */
export const DURATION_UNITS = [
  { symbol: 'y', words: ['year', 'yr'], ms: 31_557_600_000 },
  { symbol: 'w', words: ['week'], ms: 604_800_000 },
  { symbol: 'd', words: ['day'], ms: 86_400_000 },
  { symbol: 'h', words: ['hour', 'hr'], ms: 3_600_000 },
  { symbol: 'm', words: ['minute', 'min'], ms: 60_000 },
  { symbol: 's', words: ['second', 'sec'], ms: 1000 },
  { symbol: 'ms', words: ['millisecond', 'msec'], ms: 1 },
] as const

/**
 * An integer of milliseconds, or text with a number and a unit, with or without a space: `'500ms'`,
 * `'1.5h'`, `'15 minutes'`, `'1d'`.
 */
export type Duration =
  | number
  // Editors complete these. Without the object type below, they would be dropped as instances of the pattern.
  | ('1s' | '10s' | '1m' | '15m' | '1h' | '1d' | '7d' | '30d')
  | (`${number}${'' | ' '}${(typeof DURATION_UNITS)[number]['symbol'] | `${(typeof DURATION_UNITS)[number]['words'][number]}${'' | 's'}`}` &
      Record<never, never>)

/** The length of a unit, ms, by each way to write it. */
const MS_OF = new Map<string, number>(
  DURATION_UNITS.flatMap(({ symbol, words, ms }) =>
    [symbol, ...words, ...words.map((word) => `${word}s`)].map((each) => [each, ms]),
  ),
)

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
    expected: `ms as an integer, or text such as '1m', from ${minMs} ms to ${spokenDuration(maxMs)}`,
    received: value,
    fix,
  })
}

/** `1 minute`: in the longest unit that divides it. */
export function spokenDuration(durationMs: number): string {
  if (durationMs % 1000 !== 0) return `${durationMs} ms`
  const dividing = DURATION_UNITS.find(({ ms }) => durationMs % ms === 0)
  const { words, ms } = dividing as (typeof DURATION_UNITS)[number]
  const count = durationMs / ms
  return `${count} ${words[0]}${count === 1 ? '' : 's'}`
}

/** The longest text that is read. Characters. */
export const MAX_DURATION_LENGTH = 40

/**
 * Digits, perhaps with a point and more digits; perhaps a space; a unit.
 * @returns ms: NaN if they are not whole; undefined if the text is no duration
 */
function parseText(text: string): number | undefined {
  if (text.length > MAX_DURATION_LENGTH) return undefined
  const [, whole, fraction = '', word = ''] = /^(\d+)(?:\.(\d+))? ?([a-z]+)$/.exec(text) ?? []
  const unitMs = MS_OF.get(word)
  if (whole === undefined || unitMs === undefined) return undefined
  // Exact: 1.005 × 1000 is not 1005 as floating-point numbers.
  const scaled = BigInt(whole + fraction) * BigInt(unitMs)
  const scale = 10n ** BigInt(fraction.length)
  return scaled % scale === 0n ? Number(scaled / scale) : Number.NaN
}
