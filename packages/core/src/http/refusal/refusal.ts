import type { RefusalCode } from '../../errors/codes.ts'
import type { Decision } from '../../limiter/decision.ts'
import type { Charge } from '../../stores/store.ts'
import { type FieldState, longestWait } from '../fields/field-state.ts'
import { type ReportedPolicy, windowOf } from '../fields/policy-texts.ts'
import type { Profile, SetField } from '../fields/profiles/index.ts'
import type { RefusalStatus } from './problem.ts'
import { retryAfterMs } from './retry-after.ts'

/** How a request is refused. */
export interface Refusal {
  readonly status: RefusalStatus
  /** The wait with jitter, ms; undefined if waiting does not help. */
  readonly retryAfterMs: number | undefined
  /** What the fields say of the policies; undefined if no policy decided. */
  readonly state: FieldState | undefined
  /** The client is banned. */
  readonly banned: boolean
  /** The key of the client: that of the first policy, or what `deny` names. */
  readonly key: string
}

/** The refusal of a client on the deny list. */
export function denialOf(key: string): Refusal {
  return { status: 403, retryAfterMs: undefined, state: undefined, banned: false, key }
}

/** The refusal of a request that could not be decided, because the store failed. */
export function unavailability(
  { retryAfterMs: waitMs, at }: Decision,
  charges: readonly Charge[],
  { retryAfterJitter: jitter }: { retryAfterJitter: number },
): Refusal {
  const { key } = charges[0] as Charge
  const wait = retryAfterMs(waitMs, { now: at, windowMs: waitMs, jitter, seed: key })
  return { status: 503, retryAfterMs: wait, state: undefined, banned: false, key }
}

/**
 * The refusal of a request by the policies that `state` says are violated. The one waited for
 * longest gets the jitter too, so that its field says the same as Retry-After.
 */
export function refusalOf(
  state: FieldState,
  charges: readonly Charge[],
  { statusCode, retryAfterJitter }: { statusCode: 429 | 503; retryAfterJitter: number },
  banned = false,
): Refusal {
  const longest = longestWait(state) as number
  const policy = state.policies[longest] as ReportedPolicy
  const wait = retryAfterMs(policy.effectiveMs, {
    now: state.now,
    windowMs: windowOf(policy) ?? policy.resetMs,
    jitter: retryAfterJitter,
    seed: (charges[longest] as Charge).key,
  })
  const policies = [...state.policies]
  policies[longest] = { ...policy, effectiveMs: toSeconds(wait) * 1000 }
  // A ban is about the client, whatever the server says of its quotas.
  const status = banned ? 429 : statusCode
  const { key } = charges[0] as Charge
  return { status, retryAfterMs: wait, state: { ...state, policies }, banned, key }
}

/** The fields of a refusal besides those of the policies (RFC 9110 §10.2.3, RFC 6585 §4). */
export function writeRefusalFields(
  { retryAfterMs }: Refusal,
  { waitFields }: Pick<Profile, 'waitFields'>,
  set: SetField,
): void {
  if (retryAfterMs !== undefined) {
    set('Retry-After', String(toSeconds(retryAfterMs)))
    for (const { name, text } of waitFields) {
      const value = text(retryAfterMs)
      if (value !== undefined) set(name, value)
    }
  }
  set('Cache-Control', 'no-store')
}

function toSeconds(ms: number): number {
  return Math.ceil(ms / 1000)
}

const MESSAGES = {
  403: 'Forbidden',
  429: 'Quota Exceeded',
  503: 'Temporary Reduced Capacity',
} as const

/** A refusal as an error, for applications that render it in their own error handler. */
export class RateLimitError extends Error {
  override readonly name = 'RateLimitError'
  readonly code: RefusalCode = 'SLUICE_REFUSED'
  readonly status: number
  readonly statusCode: number
  /** The message may be shown to the client. */
  readonly expose = true
  /** The decision, not enumerable: it has the client's key, and errors end up in logs. */
  declare readonly decision: Decision
  /** The fields of the refusal, for handlers that start from an empty response, as Koa's does. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    { status, banned }: Refusal,
    decision: Decision,
    headers: Readonly<Record<string, string>>,
  ) {
    super(banned ? 'Abnormal Usage Detected' : MESSAGES[status])
    this.status = status
    this.statusCode = status
    Object.defineProperty(this, 'decision', { value: decision })
    this.headers = headers
  }
}
