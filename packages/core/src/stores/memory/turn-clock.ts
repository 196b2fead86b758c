import { clearImmediate, setImmediate } from 'node:timers'

/**
 * The wall clock in integer ms, read once in a turn of the event loop: a reading costs more than a
 * decision. Within a long turn it does not move, which refuses at most what it would have refused
 * at the turn's start. Where a test has replaced `Date` or the timers, every call reads the clock:
 * a fake one may move at any time, and nothing runs when a real turn ends.
 */
export function turnClock(): () => number {
  let reading = -1
  /** The `Date.now` that was called last, and whether it is the platform's own. */
  let source: unknown
  let isReal = false
  const forget = () => {
    reading = -1
  }
  return () => {
    if (reading >= 0 && source === Date.now) return reading
    if (source !== Date.now) {
      source = Date.now
      isReal = isNative(Date.now)
    }
    const now = Date.now()
    reading = isReal && runsAfterTurn(forget) ? now : -1
    return now
  }
}

function isNative(act: () => number): boolean {
  return Function.prototype.toString.call(act).includes('[native code]')
}

/** Has it called when the turn ends. False if the timers are fake: then it may never be called. */
function runsAfterTurn(act: () => void): boolean {
  const immediate = setImmediate(act).unref()
  if (immediate.constructor.name === 'Immediate') return true
  clearImmediate(immediate)
  return false
}
