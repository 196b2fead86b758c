/** A clock that moves only when a test sets or advances it. Pass it to a store as its `clock`. */
export interface ManualClock {
  (): number
  /** Moves it by so many ms, which may be negative. */
  advance(ms: number): void
  /** Sets it to a moment, ms since the epoch. */
  set(ms: number): void
}

/** @param start ms since the epoch, an integer */
export function manualClock(start = 1_800_000_000_000): ManualClock {
  let now = start
  return Object.assign(() => now, {
    advance(ms: number) {
      now += ms
    },
    set(ms: number) {
      now = ms
    },
  })
}
