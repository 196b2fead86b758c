import type { WireItem } from '../wire-state.ts'
import { wireRemaining, wireSeconds } from '../wire-state.ts'
import type { FieldGroup } from './profile.ts'
import { createProfile } from './profile.ts'

/**
 * Every policy that was evaluated, on every response: the value stays the same between them. A unit
 * that is not registered can't be named (draft-11 §3.1.2), and without a name it would be read as
 * requests: such policies are left out here and in `RateLimit`.
 */
const policies: FieldGroup = {
  fields: ['RateLimit-Policy'],
  usage: false,
  write({ items }, set) {
    let text = ''
    for (const { policy } of items) {
      if (policy.namedPolicy === undefined) continue
      text += text === '' ? policy.namedPolicy : `, ${policy.namedPolicy}`
    }
    if (text !== '') set('RateLimit-Policy', text)
  },
}

/**
 * Served: all policies. Refused: only those that refused, since Retry-After should not
 * be earlier than an effective window next to it, and that of another policy may be far longer.
 */
const usage: FieldGroup = {
  fields: ['RateLimit'],
  usage: true,
  write(state, set) {
    const refused = state.violated.length > 0
    const items = refused ? state.violated : state.items
    let text = ''
    for (const item of items) {
      if (item.policy.namedPolicy === undefined) continue
      const member = usageOf(item, refused)
      text += text === '' ? member : `, ${member}`
    }
    if (text !== '') set('RateLimit', text)
  },
}

function usageOf(item: WireItem, refused: boolean): string {
  const { policy } = item
  const remaining = policy.namedItem + wireRemaining(item)
  // Without a window (concurrency) it is unknown when a unit is free.
  if (policy.windowMs === undefined) return remaining + policy.partition
  return `${remaining};t=${wireSeconds(item, refused)}${policy.partition}`
}

/**
 * draft-ietf-httpapi-ratelimit-headers-11, and 08 to 10, whose syntax is the same:
 * `RateLimit-Policy: "default";q=100;w=60` and `RateLimit: "default";r=50;t=30`.
 */
export const draft11 = createProfile('draft-11', [policies, usage])
