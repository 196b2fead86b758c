import type { RequestAdapter } from '../request-adapter.ts'
import type { Profile } from './profiles/index.ts'
import { type WireState, wireRemaining } from './wire-state.ts'

/**
 * Removes the usage of an exhausted quota from a response that turns out to be a redirect: it
 * would keep the client from following it (draft-11 §3.2). The policies remain.
 */
export function hideExhaustedOnRedirect<Response>(
  state: WireState,
  profile: Profile,
  adapter: RequestAdapter<never, Response>,
  response: Response,
): void {
  if (state.items.every((item) => wireRemaining(item) > 0)) return
  adapter.beforeHead(response, () => {
    const status = adapter.status(response)
    if (status < 300 || status > 399) return
    for (const field of profile.usageFields) adapter.removeField(response, field)
  })
}
