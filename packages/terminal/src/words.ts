/** `1,234.5`, at most three decimals. `Intl.NumberFormat` takes 12 ms for its first number. */
export function number(value: number): string {
  const [units, fraction] = String(Number(value.toFixed(3))).split('.') as [string, string?]
  const grouped = units.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** `1 client`, `37 clients` */
export function count(amount: number, noun: string): string {
  return `${number(amount)} ${noun}${amount === 1 ? '' : 's'}`
}

/**
 * Never nothing of something nor all of less than that: `165 %`, `12.3 %`, `0.04 %`, `< 0.01 %`,
 * `99.99 %`.
 */
export function percent(share: number): string {
  const value = share * 100
  if (value > 0 && value < 0.01) return '< 0.01 %'
  if (value < 100 && value > 99.99) return '> 99.99 %'
  const digits = value >= 100 ? 0 : value >= 10 && value < 99 ? 1 : 2
  return `${Number(value.toFixed(digits))} %`
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const

/** The two largest units: `1 h 30 min`, `59 s 200 ms`, `0 s`. */
export function duration(ms: number): string {
  const first = UNITS.findIndex(([, length]) => ms >= length)
  if (first < 0) return '0 s'
  const [name, length] = UNITS[first] as (typeof UNITS)[number]
  const next = UNITS[first + 1]
  const rest = next === undefined ? 0 : Math.floor((ms % length) / next[1])
  return `${Math.floor(ms / length)} ${name}${rest > 0 ? ` ${rest} ${next?.[0]}` : ''}`
}

/** `2026-11-21 14:33:45 UTC` */
export function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** `a`, `a and b`, `a, b and c` */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}
