import { warnOnce } from '../errors/warning.ts'

/** A shorter window or ban is rare, while one of 60 seconds, written as 60, is not. ms. */
const SHORTEST_USUAL_MS = 1000

/**
 * Warns of a number of milliseconds that is probably one of seconds, once for each option and value.
 *
 * @param ms as the user wrote it, without a unit
 */
export function warnOfSeconds(option: string, ms: number): void {
  if (ms >= SHORTEST_USUAL_MS) return
  warnOnce(
    'SLUICE_WINDOW_SHORT',
    `Write ${option}: '${ms}s' or ${option}: '${ms}ms': a number is milliseconds.`,
    `${option}: ${ms}`,
  )
}
