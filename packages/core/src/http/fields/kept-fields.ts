import type { ServerResponse } from 'node:http'
import onHeaders from 'on-headers'
import { exposedHeaders } from './profiles/index.ts'

/** What limiters write, by whatever profile. */
const FIELDS = exposedHeaders(['draft-11', 'draft-6', 'legacy']).filter(
  (name) => name !== 'Retry-After',
)

/**
 * Keeps the rate-limit fields that a response has now: where an error handler starts from an empty
 * response, they are set again when the head is sent.
 */
export function keepFields(response: ServerResponse): void {
  const kept = FIELDS.map((name) => [name, response.getHeader(name)] as const)
  onHeaders(response, () => {
    for (const [name, value] of kept) {
      if (value !== undefined && !response.hasHeader(name)) response.setHeader(name, value)
    }
  })
}
