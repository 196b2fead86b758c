import { inspect } from '#platform'
import { SluiceError } from '../errors/sluice-error.ts'
import { suggestion } from './suggestion.ts'

/** @returns `value`, if it is an integer between `min` and `max` */
export function checkInteger(option: string, value: unknown, min: number, max: number): number {
  const expected = `an integer from ${min} to ${max}`
  if (typeof value !== 'number') {
    const fix =
      typeof value === 'string'
        ? `Convert it to a number first, for example with Number(process.env.LIMIT). Sluice does not coerce values.`
        : `Give ${option} as a number.`
    throw new SluiceError({ code: 'SLUICE_OPTION_TYPE', option, expected, received: value, fix })
  }
  if (!Number.isInteger(value) || value < min || value > max) {
    const fix = `Give ${option} as ${expected}.`
    throw new SluiceError({ code: 'SLUICE_OPTION_RANGE', option, expected, received: value, fix })
  }
  return value
}

export type LowestShare = 'zero' | 'above zero'

/** The range of a share in words. */
export function shareRange(lowest: LowestShare): string {
  return lowest === 'zero' ? 'from 0 to 1' : 'above 0, up to 1'
}

/** @returns `value`, if it is a number up to 1 */
export function checkShare(
  option: string,
  value: unknown,
  lowest: LowestShare = 'zero',
  fix = `Give ${option} as a share: 0.1 is ten percent.`,
): number {
  const isIn = typeof value === 'number' && value >= 0 && value <= 1
  if (isIn && (value > 0 || lowest === 'zero')) return value
  throw new SluiceError({
    code: typeof value === 'number' ? 'SLUICE_OPTION_RANGE' : 'SLUICE_OPTION_TYPE',
    option,
    expected: `a number ${shareRange(lowest)}`,
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
  const fix = `Choose one of them${suggestion(String(value), accepted.map(String))}.`
  throw new SluiceError({ code: 'SLUICE_OPTION_VALUE', option, expected, received: value, fix })
}

export function checkFunction<T>(option: string, value: T, signature: string): T {
  if (typeof value === 'function') return value
  throw new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option,
    expected: `a function ${signature}`,
    received: value,
    fix: `Give ${option} as a function.`,
  })
}

export function checkBoolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option,
    expected: 'true or false',
    received: value,
    fix: `Give ${option} as a boolean, not as text.`,
  })
}

/** @returns `clock`, if calling it returns integer ms since the epoch */
export function checkClock(clock: unknown): () => number {
  const checked = checkFunction('clock', clock as () => number, '() => integer ms since the epoch')
  checkInteger('clock()', checked(), 0, 8.64e15)
  return checked
}

export function checkObject(option: string, value: unknown, expected: string): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option,
    expected,
    received: value,
    fix: `Give ${option} as an object.`,
  })
}
