import type { Unit } from './results.ts'

const DIGITS: { readonly [unit in Unit]: number } = {
  ns: 0,
  µs: 2,
  ms: 3,
  s: 1,
  bytes: 0,
  MB: 0,
  calls: 3,
}

/** A number as precise as its unit deserves, without the unit. */
export function format(value: number, unit: Unit): string {
  const digits = DIGITS[unit]
  return value.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

/** How many times `other` it is. What is added to a base can come out below nothing. */
export function ratio(value: number, other: number): string {
  return value > 0 && other > 0 ? `${(value / other).toFixed(2)} ×` : '–'
}
