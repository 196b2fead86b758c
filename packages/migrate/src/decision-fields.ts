/** The fields of a decision for those that other limiters tell about a request. */

/** @param decision an expression. @param isNumber whether `resetTime` is used as a number */
export function ofRateLimitInfo(
  decision: string,
  isNumber: boolean,
): Readonly<Record<string, string>> {
  const reset = `Date.now() + ${decision}.resetMs`
  return {
    limit: `${decision}.limit`,
    remaining: `${decision}.remaining`,
    used: `(${decision}.limit - ${decision}.remaining)`,
    current: `(${decision}.limit - ${decision}.remaining)`,
    // Arithmetic with a date does not compile.
    resetTime: isNumber ? `(${reset})` : `new Date(${reset})`,
  }
}

/** The fields of a refusal, as `errorResponseBuilder` of @fastify/rate-limit gets it. */
export function ofFastifyContext(decision: string): Readonly<Record<string, string>> {
  return {
    max: `${decision}.limit`,
    ttl: `${decision}.retryAfterMs`,
    after: `\`\${Math.ceil(${decision}.retryAfterMs / 1000)} seconds\``,
    ban: `(${decision}.ban !== undefined)`,
    statusCode: '429',
  }
}

/**
 * The fields of rate-limiter-flexible's result.
 * @param isRefused then `msBeforeNext` is the time to wait
 */
export function ofRateLimiterRes(
  decision: string,
  isRefused: boolean,
): Readonly<Record<string, string>> {
  return {
    remainingPoints: `${decision}.remaining`,
    consumedPoints: `(${decision}.limit - ${decision}.remaining)`,
    msBeforeNext: `${decision}.${isRefused ? 'retryAfterMs' : 'resetMs'}`,
  }
}

/** The fields of what `limit(key)` of @upstash/ratelimit returns. */
export function ofUpstashResult(
  decision: string,
): Readonly<Record<string, string> & { pending: string }> {
  return {
    success: `${decision}.allowed`,
    limit: `${decision}.limit`,
    remaining: `${decision}.remaining`,
    reset: `(Date.now() + ${decision}.resetMs)`,
    // Nothing goes on after `consume`.
    pending: 'Promise.resolve()',
  }
}
