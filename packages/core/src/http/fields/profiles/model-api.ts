import { bindingPolicy, fullAgainMs, remainingUnits } from '../field-state.ts'
import type { FieldGroup, WaitField } from './profile.ts'

/** The longest wait that a client should sleep through within a call, ms. */
const LONGEST_SLEEP_MS = 60_000

/**
 * What the SDKs of OpenAI and Anthropic read of a refusal, by no specification: the wait in ms, before
 * Retry-After, and whether to retry at all. They sleep for as long as the wait says, so for more than a
 * minute they are asked to give the refusal to the application instead.
 */
export const WAIT_FIELDS: readonly WaitField[] = [
  { name: 'Retry-After-Ms', text: String },
  { name: 'X-Should-Retry', text: (ms) => (ms > LONGEST_SLEEP_MS ? 'false' : undefined) },
]

/**
 * The fields of one unit, as in the model APIs: limit, what is left, and when the quota is
 * full again. Of several policies with this unit they report the one that binds.
 *
 * @param field the name of a field
 * @param resetText when the quota is full again, in `ms` from `now` (epoch ms)
 */
export function unitFields(
  unit: string,
  field: (part: 'limit' | 'remaining' | 'reset') => string,
  resetText: (ms: number, now: number) => string,
): FieldGroup {
  const [limit, remaining, reset] = [field('limit'), field('remaining'), field('reset')]
  return {
    fields: [limit, remaining, reset],
    usage: true,
    write(state, set) {
      const policy = bindingPolicy(state, unit)
      if (policy === undefined) return
      const refused = state.violated.some((i) => state.policies[i] === policy)
      set(limit, String(policy.limit))
      set(remaining, String(remainingUnits(policy)))
      set(reset, resetText(fullAgainMs(policy, refused), state.now))
    },
  }
}
