import { plainAxis, type uPlot } from '@sluice/ui/page'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The day, if the label itself does not show it. */
const YEAR = '\n{YYYY}'
const FULL = '\n{D} {MMM} {YYYY}'
const SHORT = '\n{D} {MMM}'

/**
 * An axis of times, on the 24-hour clock, with the day below where it begins.
 *
 * @param size px; 0: only its grid
 */
export function timeAxis(size: number): uPlot.Axis {
  if (size === 0) return plainAxis({ size: 0, values: (_, times) => times.map(() => '') })
  return plainAxis({
    size,
    gap: 6,
    space: 64,
    // Step from which it serves, label, and what is added with a new year, month, day, hour, …
    values: [
      [365 * DAY, '{YYYY}', null, null, null, null, null, null, 1],
      [28 * DAY, '{MMM}', YEAR, null, null, null, null, null, 1],
      [DAY, '{D} {MMM}', YEAR, null, null, null, null, null, 1],
      [MINUTE, '{HH}:{mm}', FULL, null, SHORT, null, null, null, 1],
      [SECOND, '{HH}:{mm}:{ss}', FULL, null, SHORT, null, null, null, 1],
      [1, '{ss}.{fff}', FULL, null, `${SHORT} {HH}:{mm}`, null, '\n{HH}:{mm}', null, 1],
    ],
  })
}
