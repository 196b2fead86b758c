import { xRateLimit } from './legacy.ts'
import { createProfile } from './profile.ts'

/** The X-RateLimit fields with `X-RateLimit-Reset` in seconds from now, as in @fastify/rate-limit. */
export const legacyDelta = createProfile('legacy-delta', [xRateLimit((ms) => ms)])
