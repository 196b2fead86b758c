import { SluiceError } from '../../errors/sluice-error.ts'
import {
  MAX_INTEGER,
  serializeByteSequence,
  serializeInteger,
  serializeString,
} from './structured-fields.ts'

/** What a quota counts: the registry of quota units in draft-ietf-httpapi-ratelimit-headers-11. */
export type QuotaUnit = 'requests' | 'content-bytes' | 'concurrent-requests'

const QUOTA_UNITS: readonly unknown[] = ['requests', 'content-bytes', 'concurrent-requests']

/** Structured-field parsers must take 1024 characters; a name is a label, and is sent twice. */
const MAX_NAME_LENGTH = 128

/** The terms of a policy, as far as they are told to a client. */
export interface WirePolicyTerms {
  /** 1 to 128 characters of printable ASCII (0x20-0x7E). */
  readonly name: string
  /** Integer, 0 to 999999999999999, in units of `unit`. */
  readonly quota: number
  /** Integer milliseconds, at least 1. Absent where no window exists: concurrency. */
  readonly windowMs?: number | undefined
  /** Default: `requests`, which is not written. */
  readonly unit?: QuotaUnit | undefined
  /**
   * The partition key of the request (`pk`). Send nothing that identifies a client: a keyed and
   * truncated hash, never a bare hash of an address.
   */
  readonly partitionKey?: Uint8Array | undefined
}

/**
 * One policy with the text that depends on its terms alone, built once so that a request costs
 * only concatenation.
 */
export class WirePolicy {
  readonly terms: WirePolicyTerms
  readonly name: string
  readonly quota: number
  readonly windowMs: number | undefined
  /** Seconds, rounded up so that a short window never promises more: the fields know no fraction. */
  readonly windowSeconds: number | undefined
  /** Drafts 08-11, a member of `RateLimit-Policy`: `"daily";q=1000;w=86400`. */
  readonly namedPolicy: string
  /** Drafts 08-11, a member of `RateLimit` up to the remaining quota: `"daily";r=`. */
  readonly namedItem: string
  /** Drafts 08-11, the end of both members: `;pk=:dXNlcjo0Mg==:`, or nothing. */
  readonly partition: string
  /** `1000`. */
  readonly quotaText: string
  /** Drafts 03-07, a quota-policy: `1000;w=86400`. Absent without a window: there `w` is required. */
  readonly quotaPolicy: string | undefined
  /** The name as a JSON string. */
  readonly jsonName: string

  /** @throws {SluiceError} for terms outside the ranges of {@link WirePolicyTerms}. */
  constructor(terms: WirePolicyTerms) {
    const name = nameText(terms.name)
    const quota = quotaText(terms.quota)
    const unit = unitText(terms.unit)
    const { windowMs } = terms
    this.terms = terms
    this.name = terms.name
    this.quota = terms.quota
    this.windowMs = windowMs
    this.windowSeconds = windowMs === undefined ? undefined : wholeSeconds(windowMs)
    const window = windowMs === undefined ? '' : `;w=${this.windowSeconds}`
    this.partition = partitionText(terms.partitionKey)
    this.namedPolicy = `${name};q=${quota}${unit}${window}${this.partition}`
    this.namedItem = `${name};r=`
    this.quotaText = quota
    this.quotaPolicy = window === '' ? undefined : quota + window
    this.jsonName = JSON.stringify(terms.name)
  }
}

/**
 * Names link `RateLimit` to `RateLimit-Policy`, and the successor of draft-11 compares them
 * without regard to case.
 *
 * @throws {SluiceError} for two names of one limiter that are equal, case aside.
 */
export function assertDistinctNames(policies: readonly { readonly name: string }[]): void {
  const seen = new Set<string>()
  for (const { name } of policies) {
    const folded = name.toLowerCase()
    if (seen.has(folded)) {
      throw new SluiceError({
        code: 'SLUICE_OPTION_VALUE',
        option: 'policies',
        expected: 'names that differ by more than upper and lower case',
        received: name,
        fix: 'Rename one of the two policies: clients tell policies apart by name.',
      })
    }
    seen.add(folded)
  }
}

function nameText(name: unknown): string {
  const length = typeof name === 'string' ? name.length : 0
  const text = length > 0 && length <= MAX_NAME_LENGTH ? serializeString(name as string) : undefined
  if (text !== undefined) return text
  throw new SluiceError({
    code: 'SLUICE_OPTION_VALUE',
    option: 'name',
    expected: `1 to ${MAX_NAME_LENGTH} characters of printable ASCII (0x20-0x7E)`,
    received: name,
    fix: "Give the policy a short plain name, such as 'burst' or 'daily'.",
  })
}

function quotaText(quota: unknown): string {
  const text = typeof quota === 'number' && quota >= 0 ? serializeInteger(quota) : undefined
  if (text !== undefined) return text
  throw new SluiceError({
    code: 'SLUICE_OPTION_RANGE',
    option: 'quota',
    expected: `an integer from 0 to ${MAX_INTEGER}`,
    received: quota,
    fix: 'Give the number of units that one window allows.',
  })
}

function unitText(unit: unknown): string {
  if (unit === undefined || unit === 'requests') return ''
  if (QUOTA_UNITS.includes(unit)) return `;qu="${String(unit)}"`
  throw new SluiceError({
    code: 'SLUICE_OPTION_VALUE',
    option: 'unit',
    expected: `one of ${QUOTA_UNITS.join(', ')}`,
    received: unit,
    fix: 'Use a registered quota unit, or leave it out: the default is requests.',
  })
}

function wholeSeconds(windowMs: number): number {
  if (Number.isSafeInteger(windowMs) && windowMs >= 1) return Math.ceil(windowMs / 1000)
  throw new SluiceError({
    code: 'SLUICE_OPTION_RANGE',
    option: 'windowMs',
    expected: 'integer milliseconds, at least 1',
    received: windowMs,
    fix: 'Give the length of the window in milliseconds, or leave it out for a concurrency limit.',
  })
}

function partitionText(key: Uint8Array | undefined): string {
  return key === undefined ? '' : `;pk=${serializeByteSequence(key)}`
}
