import { inspect } from '#platform'
import { type Anchor, isDate } from '../algorithms/calendar-window/anchor.ts'
import { CALENDAR_UNITS, type CalendarUnit } from '../algorithms/calendar-window/calendar.ts'
import { TimeZone } from '../algorithms/calendar-window/time-zone.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import {
  checkBoolean,
  checkClock,
  checkFunction,
  checkInteger,
  checkOneOf,
  checkShare,
} from './checks.ts'
import {
  DURATION_UNITS,
  MAX_DURATION_LENGTH,
  MAX_DURATION_MS,
  parseDuration,
  spokenDuration,
} from './duration.ts'
import { warnOfSeconds } from './seconds.ts'

/**
 * The type of an option: how it is checked, documented and typed. The table of the reference has
 * the words and types that are missing here. Published code has none of them.
 */
export interface OptionType<T> {
  /** The values in words, as Markdown: `integer`. */
  readonly form?: string
  /** Which of these values are taken, in words: `1 … 10^8 keys`. */
  readonly range?: string
  /** The type that the user writes, in TypeScript. */
  readonly typescript?: string
  /** A JSON Schema of the values, for options that a file may set. */
  readonly schema?: object
  /**
   * @param option its name in messages: `policies[0].burst`
   * @returns the value as the code uses it: a duration in ms
   * @throws SluiceError
   */
  check(option: string, value: unknown): T
}

/** Its check takes the largest value too, where it is lower than that of the type. */
export function integer(min: number, max: number, unit: string) {
  return {
    form: 'integer',
    range: `${figure(min)} … ${figure(max)} ${unit}`,
    typescript: 'number',
    schema: { type: 'integer', minimum: min, maximum: max },
    check: (option: string, value: unknown, most = max) => checkInteger(option, value, min, most),
  }
}

/** Text such as `'1m'`, or ms. */
export function duration(minMs = 1, maxMs = MAX_DURATION_MS, fix?: string): OptionType<number> {
  return {
    form: 'duration',
    range: `${minMs} ms … ${spokenDuration(maxMs)}`,
    typescript: 'Duration',
    schema: {
      anyOf: [
        { type: 'integer', minimum: minMs, maximum: maxMs },
        { type: 'string', maxLength: MAX_DURATION_LENGTH, pattern: durationPattern() },
      ],
    },
    check: (option, value) => parseDuration(option, value, minMs, maxMs, fix),
  }
}

/** How a duration is written as text: a regular expression. */
function durationPattern(): string {
  const names = DURATION_UNITS.flatMap(({ symbol, words }) => {
    return [symbol, ...words.map((word) => `${word}s?`)]
  })
  return `^\\d+(\\.\\d+)? ?(${names.join('|')})$`
}

/** A duration, or a unit of the calendar. */
export function durationOrCalendar(): OptionType<number | CalendarUnit> {
  const time = duration()
  return {
    ...time,
    form: `duration, or ${CALENDAR_UNITS.map((unit) => code(inspect(unit))).join(', ')}`,
    typescript: 'Duration | CalendarUnit',
    check(option, value) {
      const unit = CALENDAR_UNITS.find((each) => each === value)
      if (unit !== undefined) return unit
      const ms = time.check(option, value)
      if (typeof value === 'number') warnOfSeconds(option, ms)
      return ms
    },
  }
}

/** A name of the IANA database of time zones. */
export const timeZone: OptionType<TimeZone> = {
  form: 'text',
  range: "an IANA time zone such as `'Europe/Berlin'`",
  typescript: 'string',
  check(option, value) {
    try {
      if (typeof value === 'string') return new TimeZone(value)
    } catch {
      // As any other value that names none.
    }
    const expected = 'an IANA time zone that this Node knows'
    const fix = "Write a name such as 'Europe/Berlin', or 'UTC'."
    throw new SluiceError({ code: 'SLUICE_OPTION_VALUE', option, expected, received: value, fix })
  },
}

/** A day of the month, or a date. */
export const anchor: OptionType<Anchor> = {
  form: "integer, 1 … 31, a date such as `'2026-11-21'`, or a `Date`",
  typescript: 'Anchor | undefined',
  check(option, value) {
    if (typeof value === 'number') return checkInteger(option, value, 1, 31)
    if (typeof value === 'string' && isDate(value)) return value
    if (value instanceof Date && !Number.isNaN(value.getTime())) return value
    const expected = 'a day of the month from 1 to 31, a date, or a Date'
    const fix = "Write the day on which the plan renews: 15, or '2026-11-15'."
    throw new SluiceError({ code: 'SLUICE_OPTION_VALUE', option, expected, received: value, fix })
  },
}

/** The most thresholds of a policy: each is a value of a metric's attribute. */
const MAX_SHARES = 8

/** Parts of 1, in their order. */
export const shares: OptionType<readonly number[]> = {
  form: `array of 1 to ${MAX_SHARES} shares`,
  range: 'above 0, up to 1',
  typescript: 'readonly number[]',
  schema: {
    type: 'array',
    minItems: 1,
    maxItems: MAX_SHARES,
    items: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  },
  check(option, value) {
    const fix = `Write ${option}: [0.8, 1] for 80 % of the limit, and all of it.`
    if (Array.isArray(value) && value.length > 0 && value.length <= MAX_SHARES) {
      const each = value.map((one, i) =>
        checkShare(`${option}[${i}]`, one, 'above 0, up to 1', fix),
      )
      return [...new Set(each)].sort((a, b) => a - b)
    }
    const expected = `an array of 1 to ${MAX_SHARES} shares of the limit`
    throw new SluiceError({ code: 'SLUICE_OPTION_TYPE', option, expected, received: value, fix })
  },
}

/** A part of 1. */
export function share(range: 'from 0 to 1' | 'above 0, up to 1', fix?: string): OptionType<number> {
  return {
    form: 'number',
    range,
    typescript: 'number',
    schema: {
      type: 'number',
      [range === 'from 0 to 1' ? 'minimum' : 'exclusiveMinimum']: 0,
      maximum: 1,
    },
    check: (option, value) => checkShare(option, value, range, fix),
  }
}

export const boolean: OptionType<boolean> = {
  form: '`true` or `false`',
  typescript: 'boolean',
  schema: { type: 'boolean' },
  check: checkBoolean,
}

/** @param alias the name of their type, if it has one */
export function oneOf<const T extends string | number>(
  values: readonly T[],
  alias?: string,
): OptionType<T> {
  // Written out where only the documentation reads it: `inspect` takes long in a process that starts.
  return {
    form: listed(values.map((value) => code(inspect(value)))),
    typescript: alias ?? values.map((value) => inspect(value)).join(' | '),
    check: (option, value) => checkOneOf(option, value, values),
  }
}

/** @param expected which text, in words */
export function text(pattern: RegExp, expected: string, fix: string): OptionType<string> {
  return {
    form: 'text',
    range: expected,
    typescript: 'string',
    check(option, value) {
      if (typeof value === 'string' && pattern.test(value)) return value
      throw new SluiceError({ code: 'SLUICE_OPTION_VALUE', option, expected, received: value, fix })
    },
  }
}

/** Text that messages never show. */
export function secret(minLength: number): OptionType<string> {
  const expected = `text of at least ${minLength} characters`
  return {
    form: expected,
    typescript: 'string',
    check(option, value) {
      if (typeof value === 'string' && value.length >= minLength) return value
      throw new SluiceError({
        code: 'SLUICE_SECRET',
        option,
        expected,
        said: typeof value === 'string' ? `${value.length} characters` : typeof value,
        fix: 'Take it from the environment, the same in every process.',
      })
    },
  }
}

/** A function of any kind: only the compiler knows its arguments and result. */
type AnyFunction = (...args: never[]) => unknown

/**
 * A function. Only the table of the reference has its type in TypeScript.
 * @param or texts that it can be instead
 */
export function callback<const T extends string = never>(
  signature: string,
  ...or: readonly T[]
): OptionType<AnyFunction | T> {
  const alternative = () => or.map((text) => `, or ${inspect(text)}`).join('')
  return {
    form: `function ${code(signature)}${or.map((text) => `, or ${code(inspect(text))}`).join('')}`,
    check: (option, value) =>
      or.includes(value as T)
        ? (value as T)
        : checkFunction(option, value as AnyFunction, `${signature}${alternative()}`),
  }
}

/** A clock for tests. It is called once, because a wrong unit would limit wrongly without any error. */
export const clock: OptionType<() => number> = {
  form: 'function `() => integer ms since the epoch`',
  typescript: '() => number',
  check: (_, value) => checkClock(value),
}

/** One of a few texts, or a function of the request. */
export function oneOfOrFunction<const T extends string>(
  values: readonly T[],
  signature: string,
): OptionType<T | AnyFunction> {
  const { form, check } = oneOf(values)
  return {
    form: `${form}, or a function ${code(signature)}`,
    check: (option, value) =>
      typeof value === 'function' ? (value as AnyFunction) : check(option, value),
  }
}

/** A value that is checked where it is used. */
export const special: OptionType<unknown> = { check: (_, value) => value }

/** `a, b or c` */
function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** The text as code in Markdown. */
function code(text: string): string {
  return `\`${text}\``
}

/** `100,000`, and `10^12` from a million on. */
function figure(value: number): string {
  if (value === Number.MAX_SAFE_INTEGER) return '2^53 − 1'
  const exponent = Math.log10(value)
  if (exponent >= 6 && Number.isInteger(exponent)) return `10^${exponent}`
  // Not toLocaleString(): it loads Intl, which takes more than all else that core does when it starts.
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',')
}
