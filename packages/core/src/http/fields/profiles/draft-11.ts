import { effectiveWindowSeconds, type FieldState, remainingUnits } from '../field-state.ts'
import type { PolicyText, ReportedPolicy } from '../policy-texts.ts'
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
  write({ texts }, set) {
    let text = ''
    for (const { namedPolicy } of texts) {
      if (namedPolicy === undefined) continue
      text += text === '' ? namedPolicy : `, ${namedPolicy}`
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
    const { violated } = state
    const refused = violated.length > 0
    const count = refused ? violated.length : state.policies.length
    let text = ''
    for (let n = 0; n < count; n += 1) {
      const member = usageOf(state, refused ? (violated[n] as number) : n, refused)
      if (member !== undefined) text += text === '' ? member : `, ${member}`
    }
    if (text !== '') set('RateLimit', text)
  },
}

function usageOf({ policies, texts }: FieldState, i: number, refused: boolean): string | undefined {
  const policy = policies[i] as ReportedPolicy
  const { namedPolicy, namedItem, hasWindow, partition } = texts[i] as PolicyText
  if (namedPolicy === undefined) return undefined
  const remaining = namedItem + remainingUnits(policy)
  // Without a window (concurrency) it is unknown when a unit is free.
  if (!hasWindow) return remaining + partition
  return `${remaining};t=${effectiveWindowSeconds(policy, refused)}${partition}`
}

/**
 * draft-ietf-httpapi-ratelimit-headers-11, and 08 to 10, whose syntax is the same:
 * `RateLimit-Policy: "default";q=100;w=60` and `RateLimit: "default";r=50;t=30`.
 */
export const draft11 = createProfile('draft-11', [policies, usage])
