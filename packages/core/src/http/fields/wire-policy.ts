import { serializeByteSequence, serializeString } from './structured-fields.ts'

/** The registry of quota units in draft-ietf-httpapi-ratelimit-headers-11 (§3.1.2). */
const REGISTERED_UNITS: readonly string[] = ['requests', 'content-bytes', 'concurrent-requests']

/** What a client learns about a policy. Its options have been checked. */
export interface WirePolicyTerms {
  /** 1 to 128 characters of printable ASCII (0x20-0x7E). */
  readonly name: string
  /** Integer, 0 to 999999999999999, in units of `unit`. */
  readonly quota: number
  /** Integer milliseconds, at least 1. Absent where no window exists: concurrency. */
  readonly windowMs?: number | undefined
  /** What it counts. Default: `requests`, which is not written. */
  readonly unit?: string | undefined
  /**
   * The partition key of the request (`pk`). Send nothing that identifies a client: a keyed and
   * truncated hash, never a bare hash of an address.
   */
  readonly partitionKey?: Uint8Array | undefined
}

/**
 * One policy with the text that depends only on the policy, built once so that a request costs
 * only concatenation.
 */
export class WirePolicy {
  readonly terms: WirePolicyTerms
  readonly name: string
  readonly quota: number
  readonly windowMs: number | undefined
  /** Seconds, rounded up so that a short window never promises more: the fields have no fractions. */
  readonly windowSeconds: number | undefined
  readonly unit: string
  /**
   * Drafts 08-11, a member of `RateLimit-Policy`: `"daily";q=1000;w=86400`. Absent if the unit is
   * not registered.
   */
  readonly namedPolicy: string | undefined
  /** Drafts 08-11, a member of `RateLimit` up to the remaining quota: `"daily";r=`. */
  readonly namedItem: string
  /** Drafts 08-11, the end of both members: `;pk=:dXNlcjo0Mg==:`, or nothing. */
  readonly partition: string
  /** `1000`. */
  readonly quotaText: string
  /**
   * Drafts 03-07, a quota-policy: `1000;w=86400`. Absent without a window, which is required there,
   * and if it does not count requests.
   */
  readonly quotaPolicy: string | undefined
  /** Draft 03, the limit where it is the only policy: `1000, 1000;w=86400`. */
  readonly quotaList: string
  /** The name as a JSON string. */
  readonly jsonName: string

  constructor(terms: WirePolicyTerms) {
    const { windowMs, unit = 'requests' } = terms
    const name = serializeString(terms.name)
    const quota = String(terms.quota)
    const unitText = unit === 'requests' ? '' : `;qu="${unit}"`
    this.terms = terms
    this.name = terms.name
    this.quota = terms.quota
    this.windowMs = windowMs
    this.windowSeconds = windowMs === undefined ? undefined : Math.ceil(windowMs / 1000)
    const window = windowMs === undefined ? '' : `;w=${this.windowSeconds}`
    this.partition = partitionText(terms.partitionKey)
    this.unit = unit
    this.namedPolicy = REGISTERED_UNITS.includes(unit)
      ? `${name};q=${quota}${unitText}${window}${this.partition}`
      : undefined
    this.namedItem = `${name};r=`
    this.quotaText = quota
    this.quotaPolicy = window === '' || unit !== 'requests' ? undefined : quota + window
    this.quotaList = this.quotaPolicy === undefined ? quota : `${quota}, ${this.quotaPolicy}`
    this.jsonName = JSON.stringify(terms.name)
  }
}

function partitionText(key: Uint8Array | undefined): string {
  return key === undefined ? '' : `;pk=${serializeByteSequence(key)}`
}
