/**
 * The wall clock in integer ms, read once in a turn of the event loop: a reading costs more than a
 * decision. Within a long turn it stands still, which refuses at most what it would have refused
 * at the turn's start.
 */
export function turnClock(): () => number {
  let reading = -1
  const forget = () => {
    reading = -1
  }
  return () => {
    if (reading < 0) {
      reading = Date.now()
      setImmediate(forget).unref()
    }
    return reading
  }
}
