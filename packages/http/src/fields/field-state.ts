import type { Charge, PolicyDecision } from '@sluice/core'
import { hmac } from '@sluice/core/internal'
import {
  MAX_INTEGER,
  type PolicyText,
  partitionText,
  policyText,
  windowOf,
} from './policy-texts.ts'

/**
 * The longest wait that a client is sent, in seconds. Beyond 2^31 ms the timers of common
 * clients overflow, and they come back immediately.
 */
export const MAX_WAIT_SECONDS = 2_147_483

/** Everything that the header fields of one response are made of. */
export interface FieldState {
  /** The policies that were evaluated for this request, in the order of the configuration. */
  readonly policies: readonly PolicyDecision[]
  /** The text of each policy that is the same in every response. */
  readonly texts: readonly PolicyText[]
  /** The indexes of the policies that refused. Empty: the request was served. */
  readonly violated: readonly number[]
  /** What the request costs each policy. Empty: it is not known. */
  readonly charges: readonly Pick<Charge, 'cost'>[]
}

/** Whole units that remain, 0 to 999999999999999: rounded down, and debt is shown as 0. */
export function remainingUnits({ remaining }: PolicyDecision): number {
  // NaN fails the comparison.
  return remaining >= 1 ? Math.min(Math.floor(remaining), MAX_INTEGER) : 0
}

/**
 * The effective window in ms, finite: one that never passes is reported as the policy's window. On a refusal it is 1 ms to {@link MAX_WAIT_SECONDS}: there
 * is always something to wait for, and Retry-After, which has that ceiling, is never earlier.
 */
export function effectiveWindowMs(policy: PolicyDecision, refused: boolean): number {
  const { effectiveMs } = policy
  const ms = Math.abs(effectiveMs) < Infinity ? effectiveMs : (windowOf(policy) ?? 0)
  if (refused) return Math.min(Math.max(ms, 1), MAX_WAIT_SECONDS * 1000)
  return Math.max(ms, 0)
}

/** The effective window in whole seconds, rounded up; at most 999999999999999. */
export function effectiveWindowSeconds(policy: PolicyDecision, refused: boolean): number {
  return Math.min(Math.ceil(effectiveWindowMs(policy, refused) / 1000), MAX_INTEGER)
}

/**
 * The time until the quota is full again, ms: finite, an integer, and on a refusal no earlier than its wait.
 */
export function fullAgainMs(policy: PolicyDecision, refused: boolean): number {
  const { resetMs } = policy
  const ms = Math.abs(resetMs) < Infinity ? resetMs : (windowOf(policy) ?? 0)
  return Math.min(
    Math.ceil(Math.max(ms, refused ? effectiveWindowMs(policy, true) : 0)),
    MAX_INTEGER,
  )
}

/** The policy with the longest wait, of those that refused; the first of equals. Undefined: none refused. */
export function longestWait({ policies, violated }: FieldState): number | undefined {
  const waitOf = (i: number) => effectiveWindowMs(policies[i] as PolicyDecision, true)
  return violated.find((i) => violated.every((other) => waitOf(other) <= waitOf(i)))
}

/**
 * The one policy that drafts 03-07 and the X-RateLimit fields report, which cannot name what
 * they count: so it is one that counts requests. Refused: the one that refused with the longest
 * wait. Served: the one with the lowest remaining quota; of equals, the one with the longest reset.
 * The first of the list wins a full tie.
 *
 * `undefined` if no policy can be reported, because none of these counts requests.
 *
 * @param unit the unit of a policy with a window: not concurrent requests
 * @param refused whether to look at the policies that refused, and at no other
 */
export function reportedPolicy(
  { policies, violated }: FieldState,
  unit = 'requests',
  refused: boolean = violated.length > 0,
): PolicyDecision | undefined {
  let found: PolicyDecision | undefined
  const count = refused ? violated.length : policies.length
  for (let n = 0; n < count; n += 1) {
    const policy = policies[refused ? (violated[n] as number) : n] as PolicyDecision
    if (policy.unit !== unit) continue
    if (found === undefined || precedes(policy, found, refused)) found = policy
  }
  return found
}

/** The policy of a unit that binds: of those that refused, by its wait; else by what remains. */
export function bindingPolicy(state: FieldState, unit: string): PolicyDecision | undefined {
  return reportedPolicy(state, unit, true) ?? reportedPolicy(state, unit, false)
}

function precedes(policy: PolicyDecision, other: PolicyDecision, refused: boolean): boolean {
  const difference = refused ? 0 : remainingUnits(policy) - remainingUnits(other)
  if (difference !== 0) return difference < 0
  return effectiveWindowMs(policy, refused) > effectiveWindowMs(other, refused)
}

/**
 * The place on a request for what its limiters have written into the fields. Copies of this package in
 * one process (ESM and CommonJS) share it, so the number in the name changes with the shape of
 * {@link FieldState}.
 */
const WRITTEN = Symbol.for('sluice.written.5')

type Marked = { [WRITTEN]?: FieldState }

/**
 * Joins the state of one more limiter with those before it: each field is written
 * once, and lists the policies of all limiters that the request has passed. Of two policies with the
 * same name the later one is numbered, since names link the fields.
 *
 * @param identity the object that identifies the request in every middleware
 * @param state the state of this limiter alone
 */
export function joinWritten(identity: object, state: FieldState): FieldState {
  const marked = identity as Marked
  const earlier = marked[WRITTEN]
  const joined = earlier === undefined ? state : join(earlier, state)
  marked[WRITTEN] = joined
  return joined
}

/** What the limiters that a request has passed have written together; undefined: nothing. */
export function writtenOf(identity: object): FieldState | undefined {
  return (identity as Marked)[WRITTEN]
}

function join(earlier: FieldState, later: FieldState): FieldState {
  const taken = new Set(earlier.policies.map(({ name }) => name.toLowerCase()))
  const policies = later.policies.map((policy) => {
    const name = freeName(policy.name, taken)
    taken.add(name.toLowerCase())
    return name === policy.name ? policy : { ...policy, name }
  })
  const texts = later.texts.map((text, i) => {
    const policy = policies[i] as PolicyDecision
    return policy === later.policies[i] ? text : policyText(policy, text.partition)
  })
  return {
    policies: [...earlier.policies, ...policies],
    texts: [...earlier.texts, ...texts],
    violated: later.violated.map((i) => earlier.policies.length + i),
    charges: [...earlier.charges, ...later.charges],
  }
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted.toLowerCase())) return wanted
  let number = 2
  const name = () => `${wanted.slice(0, 120)}-${number}`
  while (taken.has(name().toLowerCase())) number += 1
  return name()
}

/** Bytes of a partition key: enough to distinguish a client's own quotas, too few to look up. */
const PARTITION_BYTES = 9
/** Texts that are kept: of limits that differ by request there may be any number. */
const MAX_TEXTS = 1000

/** The texts of a limiter's policies: made once for each, or, with partition keys, for each request. */
export class PolicyTexts {
  readonly #secret: string | undefined
  readonly #known = new Map<string, PolicyText>()
  #last: readonly PolicyText[] = []

  /** @param secret the secret of the partition keys; undefined: fields have none */
  constructor(secret: string | undefined) {
    this.#secret = secret
  }

  /** The texts of the policies, in their order: the same array as long as nothing changes. */
  of(policies: readonly PolicyDecision[]): readonly PolicyText[] {
    const secret = this.#secret
    if (secret !== undefined) {
      return policies.map((policy) =>
        policyText(policy, partitionText(hmac(secret, policy.key).subarray(0, PARTITION_BYTES))),
      )
    }
    for (let i = 0; i < policies.length; i += 1) {
      const { limit, windowMs } = policies[i] as PolicyDecision
      const text = this.#last[i]
      if (text === undefined || text.limit !== limit || text.windowMs !== windowMs) {
        this.#last = policies.map((policy) => this.#text(policy))
        break
      }
    }
    return this.#last
  }

  #text(policy: PolicyDecision): PolicyText {
    const id = `${policy.limit} ${policy.windowMs} ${policy.name}`
    let text = this.#known.get(id)
    if (text === undefined) {
      text = policyText(policy)
      if (this.#known.size === MAX_TEXTS) this.#known.clear()
      this.#known.set(id, text)
    }
    return text
  }
}
