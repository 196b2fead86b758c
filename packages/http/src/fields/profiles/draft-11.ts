import type { PolicyDecision } from '@sluice/core'
import { effectiveWindowSeconds, type FieldState, remainingUnits } from '../field-state.ts'
import type { PolicyText } from '../policy-texts.ts'
import { createProfile, type FieldGroup } from './profile.ts'

/**
 * Every policy that was evaluated, on every response: the value stays the same between them. A unit
 * that is not registered can't be named (draft-11 §3.1.2), and without a name it would be read as
 * requests: such policies are left out here and in `RateLimit`.
 */
export const namedPolicies: FieldGroup = {
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
 *
 * @param available the parameter of the available quota
 * @param window the parameter of the effective window
 * @param costText what a member ends with
 */
export function namedUsage(
  available: string,
  window: string,
  costText?: (state: FieldState, i: number) => string,
): FieldGroup {
  return {
    fields: ['RateLimit'],
    usage: true,
    write(state, set) {
      const { policies, texts, violated } = state
      const refused = violated.length > 0
      let text = ''
      for (let i = 0; i < policies.length; i += 1) {
        const { namedPolicy, quotedName, hasWindow, partition } = texts[i] as PolicyText
        if (namedPolicy === undefined || (refused && !violated.includes(i))) continue
        const policy = policies[i] as PolicyDecision
        text += `${text === '' ? '' : ', '}${quotedName};${available}=${remainingUnits(policy)}`
        // Without a window (concurrency) it is unknown when a unit is free.
        if (hasWindow) text += `;${window}=${effectiveWindowSeconds(policy, refused)}`
        text += partition
        if (costText !== undefined) text += costText(state, i)
      }
      if (text !== '') set('RateLimit', text)
    },
  }
}

/**
 * draft-ietf-httpapi-ratelimit-headers-11, and 08 to 10, whose syntax is the same:
 * `RateLimit-Policy: "default";q=100;w=60` and `RateLimit: "default";r=50;t=30`.
 */
export const draft11 = createProfile('draft-11', [namedPolicies, namedUsage('r', 't')])
