import type { PolicyDecision } from '@sluice/core'
import { encode } from '@sluice/core/internal'

/** The registry of quota units in draft-ietf-httpapi-ratelimit-headers-11 (§3.1.2). */
const REGISTERED_UNITS: readonly string[] = ['requests', 'content-bytes', 'concurrent-requests']

/** The largest Integer of a structured field: 15 decimal digits (RFC 9651 §3.3.1). */
export const MAX_INTEGER = 999_999_999_999_999

/** RFC 9651 §4.1.6: `"` and `\` are escaped. @param value printable ASCII */
export function serializeString(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

/** RFC 9651 §4.1.8: base64 of RFC 4648 §4, with padding, between colons. */
export function serializeByteSequence(value: Uint8Array): string {
  return `:${encode(value, 'base64')}:`
}

/** The window of a policy, ms; undefined where none exists: concurrency. */
export function windowOf({
  unit,
  windowMs,
}: Pick<PolicyDecision, 'unit' | 'windowMs'>): number | undefined {
  return unit === 'concurrent-requests' ? undefined : windowMs
}

/** The text of a policy that is the same in every response. Plain data: copies of this package share it. */
export interface PolicyText {
  /** The numbers that the text was made of: units and ms. */
  readonly limit: number
  readonly windowMs: number
  /**
   * Drafts 08-11, a member of `RateLimit-Policy`: `"daily";q=1000;w=86400`. Undefined if the unit is
   * not registered.
   */
  readonly namedPolicy: string | undefined
  /** From draft 08 on, the name of a member: `"daily"`. */
  readonly quotedName: string
  /** Whether it has a window: there is none where concurrent requests are counted. */
  readonly hasWindow: boolean
  /** Drafts 08-11, the end of both members: `;pk=:dXNlcjo0Mg==:`, or nothing. */
  readonly partition: string
  /**
   * Drafts 03-07, a quota-policy: `1000;w=86400`. Undefined without a window, which is required there,
   * and if it does not count requests.
   */
  readonly quotaPolicy: string | undefined
}

/**
 * @param policy its `limit` is an integer from 0, shown as 999999999999999 at most; its `name` 1 to 128 characters of printable
 *   ASCII (0x20-0x7E)
 * @param partition the end of its members: see {@link partitionText}
 */
export function policyText(
  policy: Pick<PolicyDecision, 'name' | 'unit' | 'limit' | 'windowMs'>,
  partition = '',
): PolicyText {
  const { unit, limit, windowMs } = policy
  const shown = Math.min(limit, MAX_INTEGER)
  const name = serializeString(policy.name)
  const windowSeconds = secondsOf(policy)
  const window = windowSeconds === undefined ? '' : `;w=${windowSeconds}`
  const countsRequests = unit === 'requests'
  const unitText = countsRequests ? '' : `;qu="${unit}"`
  return {
    limit,
    windowMs,
    namedPolicy: REGISTERED_UNITS.includes(unit)
      ? `${name};q=${shown}${unitText}${window}${partition}`
      : undefined,
    quotedName: name,
    hasWindow: window !== '',
    partition,
    quotaPolicy: countsRequests && window !== '' ? shown + window : undefined,
  }
}

/**
 * The parameter `pk` of both members.
 * @param partitionKey the partition key of the request. Send nothing that identifies a client:
 *   a keyed and truncated hash, never a bare hash of an address
 */
export function partitionText(partitionKey: Uint8Array): string {
  return `;pk=${serializeByteSequence(partitionKey)}`
}

/** The window in seconds, rounded up so that a short window never promises more: the fields have no fractions. */
export function secondsOf(policy: Pick<PolicyDecision, 'unit' | 'windowMs'>): number | undefined {
  const windowMs = windowOf(policy)
  return windowMs === undefined ? undefined : Math.ceil(windowMs / 1000)
}
