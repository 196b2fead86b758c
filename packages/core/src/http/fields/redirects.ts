import type { RequestAdapter } from '../request-adapter.ts'
import { type FieldState, remainingUnits } from './field-state.ts'
import type { Profile } from './profiles/index.ts'

/**
 * Removes the usage of an exhausted quota from a response that turns out to be a redirect: it
 * would keep the client from following it (draft-11 §3.2). The policies remain.
 */
export function hideExhaustedOnRedirect<Response>(
  { policies }: FieldState,
  profile: Profile,
  adapter: RequestAdapter<never, Response>,
  response: Response,
): void {
  let isExhausted = false
  for (const policy of policies) if (remainingUnits(policy) === 0) isExhausted = true
  if (!isExhausted) return
  adapter.beforeHead(response, () => {
    const status = adapter.status(response)
    if (status < 300 || status > 399) return
    for (const field of profile.usageFields) adapter.removeField(response, field)
  })
}
