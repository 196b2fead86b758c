import { inspect } from 'node:util'
import { SluiceError } from '../errors/sluice-error.ts'
import { hereInsteadOf } from './peer-names.ts'

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

/** @returns `value`, if it is a number from 0 to 1 */
export function checkShare(option: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= 1) return value
  throw new SluiceError({
    code: typeof value === 'number' ? 'SLUICE_OPTION_RANGE' : 'SLUICE_OPTION_TYPE',
    option,
    expected: 'a number from 0 to 1',
    received: value,
    fix: `Give ${option} as a share: 0.1 is ten percent.`,
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

/** A clock for tests: checked once here, since a wrong unit would limit wrongly without a sign. */
export function checkClock(clock: unknown): () => number {
  const checked = checkFunction('clock', clock as () => number, '() => integer ms since the epoch')
  checkInteger('clock()', checked(), 0, 8.64e15)
  return checked
}

/** Refuses options that don't exist: a misspelt one would be ignored otherwise. */
export function checkKnown(path: string, options: object, known: readonly string[]): void {
  for (const option of Object.keys(options)) {
    if (known.includes(option)) continue
    const received = (options as Record<string, unknown>)[option]
    throw new SluiceError({
      code: 'SLUICE_OPTION_UNKNOWN',
      option: path === '' ? option : `${path}.${option}`,
      expected: `one of the options ${known.join(', ')}`,
      received,
      fix: renaming(option, received, known),
    })
  }
}

/** What to do about an option that does not exist: perhaps another limiter has it. */
function renaming(option: string, value: unknown, known: readonly string[]): string {
  const here = hereInsteadOf(option, value)
  const [name = ''] = /^\w+/.exec(here ?? '') ?? []
  if (here !== undefined && (known.includes(name) || name === 'limiter')) return `Write ${here}.`
  return `Remove it or correct its name${suggestion(option, known)}.`
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

/** The name that is probably meant: no more than two slips away, fewer than a third of it. */
function suggestion(given: string, known: readonly string[]): string {
  const near = known.find((each) => {
    const slips = distance(given.toLowerCase(), each.toLowerCase())
    return slips <= 2 && slips < each.length / 3
  })
  return near === undefined ? '' : ` (did you mean '${near}'?)`
}

/** Levenshtein's edit distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, substitution))
    }
    row = next
  }
  return row[b.length] as number
}
