import { bindingPolicy, fullAgainMs } from '../field-state.ts'
import { createProfile, limitRemainingReset, type Profile } from './profile.ts'

/** The longest wait that a client should sleep through within a call, ms. */
const LONGEST_SLEEP_MS = 60_000

/**
 * The SDKs of OpenAI and Anthropic read these fields of a refusal, by no specification: the wait in ms, before
 * Retry-After, and whether to retry at all. They sleep for as long as the wait says, so for more than a
 * minute they are asked to give the refusal to the application instead.
 */
const WAIT_FIELDS = [
  { name: 'Retry-After-Ms', text: String },
  {
    name: 'X-Should-Retry',
    text: (waitMs: number) => (waitMs > LONGEST_SLEEP_MS ? 'false' : undefined),
  },
]

/**
 * The fields of each unit: limit, what remains, and when the quota is full again. Of several policies
 * with one unit they report the one that binds.
 *
 * @param field the name of a field
 * @param resetText when the quota is full again, in `ms` from `at` (epoch ms)
 */
function createModelProfile(
  name: string,
  units: readonly string[],
  field: (part: 'limit' | 'remaining' | 'reset', unit: string) => string,
  resetText: (ms: number, at: number) => string,
  errorOf?: Profile['errorOf'],
) {
  const groups = units.map((unit) =>
    limitRemainingReset(
      [field('limit', unit), field('remaining', unit), field('reset', unit)],
      (policy, refused) => resetText(fullAgainMs(policy, refused), policy.at),
      { policyOf: (state) => bindingPolicy(state, unit) },
    ),
  )
  return createProfile(name, groups, WAIT_FIELDS, errorOf)
}

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

/**
 * The fields of OpenAI's API: `x-ratelimit-remaining-tokens: 149984`,
 * `x-ratelimit-reset-requests: 6m0s` (from now). They report the units `requests` and `tokens`.
 */
export const openai = createModelProfile(
  'openai',
  ['requests', 'tokens'],
  (part, unit) => `x-ratelimit-${part}-${unit}`,
  goDuration,
  // What the SDK shows; without it, it says that there is no body.
  (title, unit = 'requests', waitMs) => ({
    message: waitMs === undefined ? title : `${title}. Please try again in ${goDuration(waitMs)}.`,
    type: unit,
    param: null,
    code: 'rate_limit_exceeded',
  }),
)

/** RFC 3339 ends with the year 9999. */
const MAX_SECONDS = 253_402_300_799

/** The time in RFC 3339, in UTC and whole seconds, rounded up. */
function rfc3339(ms: number, at: number): string {
  const seconds = Math.min(Math.ceil((at + ms) / 1000), MAX_SECONDS)
  return new Date(seconds * 1000).toISOString().replace('.000', '')
}

/**
 * The fields of Anthropic's API: `anthropic-ratelimit-tokens-remaining: 39000`,
 * `anthropic-ratelimit-tokens-reset: 2025-08-21T12:40:59Z`. They report the units `requests`,
 * `tokens`, `input-tokens` and `output-tokens`.
 */
export const anthropic = createModelProfile(
  'anthropic',
  ['requests', 'tokens', 'input-tokens', 'output-tokens'],
  (part, unit) => `anthropic-ratelimit-${unit}-${part}`,
  rfc3339,
)
