import type { WireItem, WireState } from '../wire-state.ts'
import { wireMs, wireRemaining } from '../wire-state.ts'

/**
 * The one policy that drafts 03-07 and the X-RateLimit fields report, which cannot name what
 * they count: so it is one that counts requests. Refused: the one that refused with the longest
 * wait. Served: the one with the lowest remaining quota; of equals, the one with the longest reset.
 * The first of the list wins a full tie.
 *
 * `undefined` if no policy can be reported: none of these policies counts requests and has a window.
 * A limit must be sent with a reset.
 */
export function reportedItem({ items, violated }: WireState): WireItem | undefined {
  const refused = violated.length > 0
  return mostUrgent(refused ? violated : items, 'requests', refused)
}

/** The policy of a unit that binds: of those that refused, by its wait; else by what is left. */
export function bindingItem({ items, violated }: WireState, unit: string): WireItem | undefined {
  return mostUrgent(violated, unit, true) ?? mostUrgent(items, unit, false)
}

function mostUrgent(
  items: readonly WireItem[],
  unit: string,
  refused: boolean,
): WireItem | undefined {
  let found: WireItem | undefined
  for (const item of items) {
    if (item.policy.unit !== unit || item.policy.windowMs === undefined) continue
    if (found === undefined || precedes(item, found, refused)) found = item
  }
  return found
}

function precedes(item: WireItem, other: WireItem, refused: boolean): boolean {
  const difference = refused ? 0 : wireRemaining(item) - wireRemaining(other)
  if (difference !== 0) return difference < 0
  return wireMs(item, refused) > wireMs(other, refused)
}
