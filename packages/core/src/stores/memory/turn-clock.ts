import { isCalledAfterTurn } from '#platform'

/** Readings of one millisecond before it serves the rest of the turn. */
const MAX_READINGS = 16

/**
 * The wall clock in integer ms. Where a turn of the event loop asks for it often, it is read no more
 * until the turn ends: a reading takes a good part of a decision, but to see the end of a turn takes
 * as long as several. Within a long turn it then does not move, which refuses at most what it would have
 * refused before. Where a test has replaced `Date` or the timers, every call reads the clock:
 * a fake one may move at any time, and nothing runs when a real turn ends.
 */
export function turnClock(): () => number {
  /** The time that this turn sees, ms, or -1 if it is not kept. */
  let kept = -1
  let latest = -1
  let repeats = 0
  /** The `Date.now` that was called last, and whether it is the platform's own. */
  let source: unknown
  let isReal = false
  const forget = () => {
    kept = -1
  }
  return () => {
    if (kept >= 0 && source === Date.now) return kept
    const now = Date.now()
    repeats = now === latest ? repeats + 1 : 1
    latest = now
    if (repeats < MAX_READINGS) return now
    repeats = 0
    if (source !== Date.now) {
      source = Date.now
      isReal = isNative(Date.now)
    }
    kept = isReal && isCalledAfterTurn(forget) ? now : -1
    return now
  }
}

function isNative(act: () => number): boolean {
  return Function.prototype.toString.call(act).includes('[native code]')
}
