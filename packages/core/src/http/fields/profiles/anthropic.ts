import { unitFields, WAIT_FIELDS } from './model-api.ts'
import { createProfile } from './profile.ts'

/** RFC 3339 ends with the year 9999. */
const MAX_SECONDS = 253_402_300_799

/** The time in RFC 3339, in UTC and whole seconds, rounded up. */
function rfc3339(ms: number, now: number): string {
  const seconds = Math.min(Math.ceil((now + ms) / 1000), MAX_SECONDS)
  return new Date(seconds * 1000).toISOString().replace('.000', '')
}

const fieldsOf = (unit: string) =>
  unitFields(unit, (part) => `anthropic-ratelimit-${unit}-${part}`, rfc3339)

/**
 * The fields of Anthropic's API: `anthropic-ratelimit-tokens-remaining: 39000`,
 * `anthropic-ratelimit-tokens-reset: 2025-08-21T12:40:59Z`. They report the units `requests`,
 * `tokens`, `input-tokens` and `output-tokens`.
 */
export const anthropic = createProfile(
  'anthropic',
  ['requests', 'tokens', 'input-tokens', 'output-tokens'].map(fieldsOf),
  WAIT_FIELDS,
)
