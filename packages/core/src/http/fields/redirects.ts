import type { ServerResponse } from 'node:http'
import onHeaders from 'on-headers'
import type { Profile } from './profiles/index.ts'
import { type WireState, wireRemaining } from './wire-state.ts'

/**
 * Takes what is left of an exhausted quota from a response that turns out to be a redirect: it
 * would keep the client from following it (draft-11 §3.2). Which policies there are stays.
 */
export function hideExhaustedOnRedirect(
  state: WireState,
  profile: Profile,
  response: ServerResponse,
): void {
  if (state.items.every((item) => wireRemaining(item) > 0)) return
  onHeaders(response, () => {
    if (response.statusCode < 300 || response.statusCode > 399) return
    for (const field of profile.usageFields) response.removeHeader(field)
  })
}
