import type { ServerResponse } from 'node:http'
import onHeaders from 'on-headers'
import { PROFILE_FIELDS } from './profiles/index.ts'

/**
 * Keeps the rate-limit fields that a response has now: where an error handler starts from an empty
 * response, they are set again when the head is sent.
 */
export function keepFields(response: ServerResponse): void {
  const kept = PROFILE_FIELDS.map((name) => [name, response.getHeader(name)] as const)
  onHeaders(response, () => {
    for (const [name, value] of kept) {
      if (value !== undefined && !response.hasHeader(name)) response.setHeader(name, value)
    }
  })
}
