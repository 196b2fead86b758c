import { effectiveWindowMs, effectiveWindowSeconds } from '../field-state.ts'
import { MAX_INTEGER } from '../policy-texts.ts'
import { createProfile, limitRemainingReset } from './profile.ts'

// The X-RateLimit fields, which no specification defines, and whose reset is seconds in one of two senses.

const FIELDS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const

/**
 * The X-RateLimit fields with `X-RateLimit-Reset` in epoch seconds, as GitHub sends it: more clients
 * read that form correctly than seconds from now.
 */
export const legacy = createProfile('legacy', [
  limitRemainingReset(FIELDS, (policy, refused) => {
    const ms = policy.at + effectiveWindowMs(policy, refused)
    return Math.min(Math.ceil(ms / 1000), MAX_INTEGER)
  }),
])

/** The X-RateLimit fields with `X-RateLimit-Reset` in seconds from now, as in @fastify/rate-limit. */
export const legacyDelta = createProfile('legacy-delta', [
  limitRemainingReset(FIELDS, effectiveWindowSeconds),
])
