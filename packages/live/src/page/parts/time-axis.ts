import { computed } from '@preact/signals-core'
import { WINDOW_MS } from '../../limits.ts'
import { drawnAt } from '../traffic/clock.ts'

/** The times before and after now that a lane shows, ms. */
export const PAST_MS = 15_000
export const FUTURE_MS = 3000
export const SPAN_MS = PAST_MS + FUTURE_MS

let origin: number | undefined

/** Seconds from the first moment drawn: the unit in which lanes are drawn. Small, since SVG counts in floats. */
export function secondsAt(time: number): number {
  origin ??= drawnAt.value
  return (time - origin) / 1000
}

/** The left end of the lanes. */
const left = computed(() => secondsAt(drawnAt.value - PAST_MS))

/** Moves what is drawn by `secondsAt` to where it belongs now. */
export const shift = computed(() => `translate(${-left.value} 0)`)

/** Moves an element as wide as a lane to where it belongs now, as a style. */
export const shiftStyle = computed(
  () => `transform: translateX(${(-left.value / (SPAN_MS / 1000)) * 100}%)`,
)

const firstEdge = computed(() => Math.ceil((drawnAt.value - PAST_MS) / WINDOW_MS))

/** The windows' edges in sight, and one more: ms on the server's clock. Changes only when one leaves. */
export const edges = computed(() => {
  const most = Math.ceil(SPAN_MS / WINDOW_MS) + 1
  return Array.from({ length: most }, (_, i) => (firstEdge.value + i) * WINDOW_MS)
})

/**
 * Puts the label of a time into a lane, as a style: above its time, and never cut at the lane's ends. Nothing shows
 * the label of a time that is out of sight.
 */
export function labelStyle(time: number): string {
  const share = ((secondsAt(time) - left.value) / (SPAN_MS / 1000)) * 100
  const isInSight = share >= 0 && share <= 100
  return isInSight ? `left: ${share}%; transform: translateX(${-share}%)` : 'visibility: hidden'
}

/** Share of a lane's width at which something of that time stands, in an element that is shifted. */
export function placeAt(time: number): string {
  return `${(secondsAt(time) / (SPAN_MS / 1000)) * 100}%`
}
