import { inspect } from '#platform'
import { SluiceError } from '../errors/sluice-error.ts'
import { nearest } from './nearest.ts'

/** @returns `value`, if it is an integer between `min` and `max` */
export function checkInteger(option: string, value: unknown, min: number, max: number): number {
  const isNumber = typeof value === 'number'
  if (isNumber && Number.isInteger(value) && value >= min && value <= max) return value
  const expected = `an integer from ${min} to ${max}`
  throw new SluiceError({
    code: isNumber ? 'SLUICE_OPTION_RANGE' : 'SLUICE_OPTION_TYPE',
    option,
    expected,
    received: value,
    fix: fixOf(option, value, expected, max),
  })
}

function fixOf(option: string, value: unknown, expected: string, max: number): string {
  if (value === Infinity) return `Give ${max}, the largest ${option}, where there is no limit.`
  return typeof value === 'string'
    ? 'Convert the text: Number(process.env.LIMIT), or Number(plan.limit) of a database.'
    : `Give ${option} as ${expected}.`
}

/** @returns `value`, if it is a number up to 1 */
export function checkShare(
  option: string,
  value: unknown,
  range: 'from 0 to 1' | 'above 0, up to 1' = 'from 0 to 1',
  fix = `Give ${option} as a share: 0.1 is ten percent.`,
): number {
  const isIn = typeof value === 'number' && value >= 0 && value <= 1
  if (isIn && (value > 0 || range === 'from 0 to 1')) return value
  throw new SluiceError({
    code: typeof value === 'number' ? 'SLUICE_OPTION_RANGE' : 'SLUICE_OPTION_TYPE',
    option,
    expected: `a number ${range}`,
    received: value,
    fix,
  })
}

export function checkOneOf<T extends string | number>(
  option: string,
  value: unknown,
  accepted: readonly T[],
): T {
  if (accepted.includes(value as T)) return value as T
  const expected = `one of ${accepted.map((each) => inspect(each)).join(', ')}`
  const meant = nearest(String(value), accepted.map(String))
  const near = accepted.find((each) => String(each) === meant)
  const fix = `Write ${near === undefined ? expected : inspect(near)}.`
  throw new SluiceError({ code: 'SLUICE_OPTION_VALUE', option, expected, received: value, fix })
}

export function checkFunction<T>(option: string, value: T, signature: string): T {
  if (typeof value === 'function') return value
  throw typeError(option, value, `a function ${signature}`)
}

export function checkBoolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw typeError(option, value, 'true or false', 'Write true or false, not text.')
}

/** @returns `clock`, if calling it returns integer ms since the epoch */
export function checkClock(clock: unknown): () => number {
  const checked = checkFunction('clock', clock as () => number, '() => integer ms since the epoch')
  checkInteger('clock()', checked(), 0, 8.64e15)
  return checked
}

export function checkObject(option: string, value: unknown, expected: string): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw typeError(option, value, expected, `Give ${option} as an object.`)
}

/** @returns `value`, if it is an array of any length */
export function checkArray<T>(option: string, value: readonly T[], expected: string): readonly T[] {
  if (Array.isArray(value)) return value
  throw typeError(option, value, expected)
}

/** @returns the error for a value of the wrong type, or for none */
export function typeError(
  option: string,
  received: unknown,
  expected: string,
  fix = `Give ${option} as ${expected}.`,
): SluiceError {
  return new SluiceError({ code: 'SLUICE_OPTION_TYPE', option, expected, received, fix })
}
