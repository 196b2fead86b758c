import { computed } from '@preact/signals-core'
import { WINDOW_MS } from '../../limits.ts'
import { drawnAt } from '../traffic/clock.ts'

/** What a lane shows of the past and of the planned, ms. */
export const PAST_MS = 15_000
export const FUTURE_MS = 3000
export const SPAN_MS = PAST_MS + FUTURE_MS

/** Times are drawn from here, so that their numbers stay small. */
const origin = Math.floor(drawnAt.value / WINDOW_MS) * WINDOW_MS

/** Seconds from the origin: the unit in which lanes are drawn. */
export function secondsAt(time: number): number {
  return (time - origin) / 1000
}

/** Seconds from the origin to the left end of the lanes. */
const left = computed(() => secondsAt(drawnAt.value - PAST_MS))

/** Moves what is drawn by `secondsAt` to where it belongs now. */
export const shift = computed(() => `translate(${-left.value} 0)`)

/** The same for an element as wide as a lane, as a style. */
export const shiftStyle = computed(
  () => `transform: translateX(${(-left.value / (SPAN_MS / 1000)) * 100}%)`,
)

/** The windows' edges in sight. */
export const edges = computed(() => {
  const first = Math.ceil((drawnAt.value - PAST_MS) / WINDOW_MS)
  const last = Math.floor((drawnAt.value + FUTURE_MS) / WINDOW_MS)
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * WINDOW_MS).join()
})

/** Share of a lane's width at which something of that time stands, in an element that is shifted. */
export function placeAt(time: number): string {
  return `${(secondsAt(time) / (SPAN_MS / 1000)) * 100}%`
}
