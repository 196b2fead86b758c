import { conflict } from '../errors/conflict.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import { checkInteger, checkObject } from '../options/checks.ts'

/** The bounds for changes by documents. */
export interface LiveBounds {
  /** The least and the most that `limit`, or `concurrent`, may be: integers, units. */
  readonly limit?:
    | { readonly min?: number | undefined; readonly max?: number | undefined }
    | undefined
}

/** The least and the most units of a limit that a document may set. */
export interface LimitRange {
  readonly min: number
  readonly max: number
}

/**
 * Checks the option `live`.
 *
 * @param option its name in messages
 * @param value the user's value
 * @param limit the limit in the options, units; undefined: it differs by request
 * @param most the largest limit that the algorithm has
 * @returns undefined if no document changes the policy
 * @throws SluiceError
 */
export function checkLive(
  option: string,
  value: unknown,
  limit: number | undefined,
  most: number,
): LimitRange | undefined {
  if (value === undefined || value === false) return undefined
  if (value === true) return { min: 0, max: most }
  checkObject(option, value, 'true, or bounds such as { limit: { max: 500 } }')
  const { limit: given = {}, ...others } = value as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw new SluiceError({
      code: 'SLUICE_OPTION_UNKNOWN',
      option: `${option}.${unknown}`,
      expected: 'bounds of the limit: { limit: { min, max } }',
      received: others[unknown],
      fix: `Remove ${unknown}: only the limit has bounds.`,
    })
  checkObject(`${option}.limit`, given, 'an object such as { min: 10, max: 500 }')
  const { min = 0, max = most } = given as { min?: unknown; max?: unknown }
  const range = {
    min: checkInteger(`${option}.limit.min`, min, 0, most),
    max: checkInteger(`${option}.limit.max`, max, 0, most),
  }
  if (range.min > range.max || (limit !== undefined && (limit < range.min || limit > range.max)))
    throw conflict(
      `${option}.limit`,
      'bounds with the limit of the options between them',
      value,
      'Give bounds around the limit, or correct the limit.',
    )
  return range
}
