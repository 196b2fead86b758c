/** Every product of the arithmetic stays at or below this, so that it is exact. */
export const MAX_EXACT = Number.MAX_SAFE_INTEGER

/**
 * How finely a window is counted where `units × windowMs` would not be exact: as many ticks as fit.
 * With at most 10^12 units and ten years these are always more than 9,000, so a tick is never coarser
 * than a 5,000th of the window. 0: a tick is a millisecond.
 */
export function coarseTicks(units: number, windowMs: number): number {
  return units * windowMs > MAX_EXACT
    ? Math.min(Math.floor(MAX_EXACT / units), Math.floor(MAX_EXACT / windowMs))
    : 0
}

/** How many ticks a window has. */
export function ticksPerWindow(units: number, windowMs: number): number {
  return coarseTicks(units, windowMs) || windowMs
}

/** The tick that a moment falls in, counted from the epoch. */
export function tickAt(ms: number, windowMs: number, ticks: number): number {
  const windows = Math.floor(ms / windowMs)
  return windows * ticks + Math.floor(((ms - windows * windowMs) * ticks) / windowMs)
}

/** The first millisecond of a tick: the inverse of `tickAt`. */
export function tickStart(tick: number, windowMs: number, ticks: number): number {
  const windows = Math.floor(tick / ticks)
  return windows * windowMs + Math.ceil(((tick - windows * ticks) * windowMs) / ticks)
}

/** The first tick that does not begin before a moment. */
export function tickFrom(ms: number, windowMs: number, ticks: number): number {
  const tick = tickAt(ms, windowMs, ticks)
  return tickStart(tick, windowMs, ticks) < ms ? tick + 1 : tick
}

export function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a - Math.floor(a / b) * b)
}
