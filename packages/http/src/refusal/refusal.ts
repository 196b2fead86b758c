import type { Decision, PolicyDecision } from '@sluice/core'
import { isA } from '@sluice/core/internal'
import { type FieldState, longestWait } from '../fields/field-state.ts'
import { windowOf } from '../fields/policy-texts.ts'
import type { Profile, SetField } from '../fields/profiles/index.ts'
import { retryAfterMs } from './retry-after.ts'

/** The status of a refusal. 403 is also that of a client on the deny list. */
export type RefusalStatus = 402 | 403 | 404 | 429 | 503

/** How a request is refused. */
export interface Refusal {
  readonly status: RefusalStatus
  /** The wait with jitter, ms; undefined if waiting does not help. */
  readonly retryAfterMs: number | undefined
  /** The state of the policies for the header fields; undefined if no policy decided. */
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
  key: string,
  { retryAfterJitter: jitter }: { retryAfterJitter: number },
): Refusal {
  const wait = retryAfterMs(waitMs, { now: at, windowMs: waitMs, jitter, seed: key })
  return { status: 503, retryAfterMs: wait, state: undefined, banned: false, key }
}

/**
 * The refusal of a request by the policies that `state` says are violated. The one waited for
 * longest gets the jitter too, so that its field says the same as Retry-After.
 *
 * @param key the key of the client
 */
export function refusalOf(
  state: FieldState,
  key: string,
  { statusCode, retryAfterJitter }: { statusCode: RefusalStatus; retryAfterJitter: number },
  banned = false,
): Refusal {
  const longest = longestWait(state) as number
  const policy = state.policies[longest] as PolicyDecision
  const wait = retryAfterMs(policy.effectiveMs, {
    now: policy.at,
    windowMs: windowOf(policy) ?? policy.resetMs,
    jitter: retryAfterJitter,
    seed: policy.key,
  })
  const policies = [...state.policies]
  policies[longest] = { ...policy, effectiveMs: toSeconds(wait) * 1000 }
  const status = banned ? statusOfBan(statusCode) : statusCode
  return { status, retryAfterMs: wait, state: { ...state, policies }, banned, key }
}

/** The status of the refusal of a banned client: a ban is neither about the server nor about a price. */
export function statusOfBan(statusCode: RefusalStatus): RefusalStatus {
  return statusCode === 503 || statusCode === 402 ? 429 : statusCode
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

/** RFC 9457 §6.1. Frameworks may add a charset; the essence is what counts. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

/**
 * The media type of the body of a refusal: that of problem details, unless the client asks for plain JSON and does not
 * know them. The members are the same.
 *
 * @param accept its field Accept
 */
export function bodyTypeFor(accept: string | undefined): string {
  const asksForJson = accept !== undefined && /\bapplication\/json\b/i.test(accept)
  return asksForJson && !/\bapplication\/problem\+json\b/i.test(accept)
    ? 'application/json'
    : PROBLEM_MEDIA_TYPE
}

const QUOTA_EXCEEDED = { title: 'Quota Exceeded', type: registered('quota-exceeded') }

/**
 * The title of a refusal, and its problem type where one says more than the status (RFC 9457 §4.2.1). 403 and 404 are
 * for servers that do not tell why: the body looks like that of any other.
 */
const PROBLEMS = {
  402: QUOTA_EXCEEDED,
  403: { title: 'Forbidden', type: 'about:blank' },
  404: { title: 'Not Found', type: 'about:blank' },
  429: QUOTA_EXCEEDED,
  503: {
    title: 'Temporary Reduced Capacity',
    type: registered('temporary-reduced-capacity'),
  },
  banned: { title: 'Abnormal Usage Detected', type: registered('abnormal-usage-detected') },
}

function registered(type: string): string {
  return `https://iana.org/assignments/http-problem-types#${type}`
}

/** The title and the problem type of a refusal. */
export function problemOf({ status, banned }: Pick<Refusal, 'status' | 'banned'>) {
  return PROBLEMS[banned && status === 429 ? 'banned' : status]
}

/**
 * The body of a refusal: problem details (RFC 9457) of a type that draft-11 §5 defines. It names
 * the policies that refused and nothing of the client: no key, address or store error.
 *
 * @param state what the fields say; undefined if no policy decided
 * @param profile adds what the clients of its API read
 */
export function problemBody(
  refusal: Pick<Refusal, 'status' | 'banned' | 'retryAfterMs'>,
  state: Pick<FieldState, 'policies' | 'violated'> | undefined,
  { errorOf }: Partial<Pick<Profile, 'errorOf'>> = {},
): string {
  const { status } = refusal
  const { title, type } = problemOf(refusal)
  const violated =
    type === 'about:blank' ? undefined : state?.violated.map((i) => state.policies[i])
  const error = errorOf?.(title, violated?.[0]?.unit, refusal.retryAfterMs)
  const names = violated?.map((policy) => policy?.name)
  return JSON.stringify({ type, title, status, 'violated-policies': names, error })
}

/** A refusal as an error, for your own error handler. */
export class RateLimitError extends Error {
  override readonly name = 'RateLimitError'
  readonly code = 'SLUICE_REFUSED'
  readonly status: number
  readonly statusCode: number
  /** The message may be shown to the client. */
  readonly expose = true
  /** The decision, not enumerable: it has the client's key, and errors end up in logs. */
  declare readonly decision: Decision
  /** The fields of the refusal, for handlers that start from an empty response, as Koa's does. */
  readonly headers: Readonly<Record<string, string>>

  constructor(refusal: Refusal, decision: Decision, headers: Readonly<Record<string, string>>) {
    super(problemOf(refusal).title)
    const { status } = refusal
    this.status = status
    this.statusCode = status
    Object.defineProperty(this, 'decision', { value: decision })
    this.headers = headers
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a class that extends this one is asked as itself
    return isA(value, this, RateLimitError, 'RateLimitError')
  }
}
