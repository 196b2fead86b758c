import type { WireItem, WireState } from '../wire-state.ts'
import { wireMs, wireRemaining } from '../wire-state.ts'

/**
 * The one policy that drafts 03-07 and the X-RateLimit fields report. Refused: the one that
 * refused with the longest wait. Served: the one with the lowest remaining quota; of equals, the
 * one with the longest reset. The first of the list wins a full tie.
 *
 * `undefined` where nothing can be said: no policy has a window, and a limit must be sent with a
 * reset.
 */
export function reportedItem(state: WireState): WireItem | undefined {
  const refused = state.violated.length > 0
  let reported: WireItem | undefined
  for (const item of refused ? state.violated : state.items) {
    if (item.policy.windowMs === undefined) continue
    if (reported === undefined || precedes(item, reported, refused)) reported = item
  }
  return reported
}

function precedes(item: WireItem, other: WireItem, refused: boolean): boolean {
  const difference = refused ? 0 : wireRemaining(item) - wireRemaining(other)
  if (difference !== 0) return difference < 0
  return wireMs(item, refused) > wireMs(other, refused)
}
