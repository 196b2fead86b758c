import { unitFields, WAIT_FIELDS } from './model-api.ts'
import { createProfile } from './profile.ts'

/** The longest that Go's `time.Duration` can be, ms. */
const MAX_GO_MS = 9_223_372_036_854

/** A duration as Go's `Duration.String()` writes it: `12ms`, `1.5s`, `6m0s`, `1h2m3s`. */
function goDuration(given: number): string {
  const ms = Math.min(given, MAX_GO_MS)
  if (ms < 1000) return ms === 0 ? '0s' : `${ms}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor(ms / 60_000) % 60
  const seconds = `${(ms % 60_000) / 1000}s`
  if (hours > 0) return `${hours}h${minutes}m${seconds}`
  return minutes > 0 ? `${minutes}m${seconds}` : seconds
}

const fieldsOf = (unit: string) =>
  unitFields(unit, (part) => `x-ratelimit-${part}-${unit}`, goDuration)

/**
 * The fields of OpenAI's API: `x-ratelimit-remaining-tokens: 149984`,
 * `x-ratelimit-reset-requests: 6m0s` (from now). They report the units `requests` and `tokens`.
 */
export const openai = createProfile(
  'openai',
  [fieldsOf('requests'), fieldsOf('tokens')],
  WAIT_FIELDS,
)
