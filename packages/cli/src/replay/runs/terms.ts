import type { PolicyOptions } from '@sluice/core'
import ms from 'ms'

/** What a report says of a policy's terms. */
export interface PolicyTerms {
  readonly name: string
  readonly algorithm: string
  /** Undefined: a function of the request. */
  readonly limit: number | undefined
  readonly windowMs: number
  readonly burst?: number
  readonly maxDelayMs?: number
}

/** Leaky bucket: what the core takes where nothing is said. */
const MAX_DELAY_MS = 1000

/** What a policy promises, of options that the core has accepted. */
export function termsOf(
  options: Omit<Partial<PolicyOptions>, 'limit'> & { readonly limit?: unknown },
  name: string,
  windowMs: number,
): PolicyTerms {
  const { algorithm = 'sliding-window', maxDelay = MAX_DELAY_MS } = options
  const limit = typeof options.limit === 'number' ? options.limit : undefined
  const terms = { name, algorithm, limit, windowMs }
  if (algorithm === 'leaky-bucket') {
    return { ...terms, maxDelayMs: typeof maxDelay === 'number' ? maxDelay : ms(maxDelay) }
  }
  const burst = options.burst ?? limit
  return algorithm === 'token-bucket' && burst !== undefined ? { ...terms, burst } : terms
}
