import { bindingPolicy, fullAgainMs, remainingUnits } from '../field-state.ts'
import type { FieldGroup } from './profile.ts'

/**
 * The wait of a refusal in ms, which the SDKs of OpenAI and Anthropic read before Retry-After. No
 * specification defines it.
 */
export const RETRY_AFTER_MS = 'Retry-After-Ms'

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
