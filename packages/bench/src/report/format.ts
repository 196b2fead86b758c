import type { Unit } from './results.ts'

const DIGITS: { readonly [unit in Unit]: number } = {
  ns: 0,
  µs: 2,
  ms: 2,
  bytes: 0,
  calls: 3,
  'per second': 0,
}

/** A number as precise as its unit deserves, without the unit. */
export function format(value: number, unit: Unit): string {
  const digits = DIGITS[unit]
  return value.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}
