import { wireRemaining, wireResetMs } from '../wire-state.ts'
import { bindingItem } from './one-policy.ts'
import type { FieldGroup } from './profile.ts'

/**
 * The wait of a refusal in ms, which the SDKs of OpenAI and Anthropic read before Retry-After. No
 * specification defines it.
 */
export const RETRY_AFTER_MS = 'Retry-After-Ms'

/**
 * The fields of one unit, as in the model APIs: limit, what is left, and when the quota is
 * whole again. Of several policies with this unit they report the one that binds.
 *
 * @param field the name of a field
 * @param resetText when the quota is whole again, in `ms` from `now` (epoch ms)
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
      const item = bindingItem(state, unit)
      if (item === undefined) return
      set(limit, item.policy.quotaText)
      set(remaining, String(wireRemaining(item)))
      set(reset, resetText(wireResetMs(item, state.violated.includes(item)), state.now))
    },
  }
}
