import { hmac } from '#platform'
import type { PolicyDecision } from '../../limiter/decision.ts'
import { type PolicyText, policyText } from './policy-text.ts'

/** Bytes of a partition key: enough to distinguish a client's own quotas, too few to look up. */
const PARTITION_BYTES = 9
/** Texts that are kept: of limits that differ by request there may be any number. */
const MAX_TEXTS = 1000

/** The texts of a limiter's policies: made once for each, or, with partition keys, for each request. */
export class PolicyTexts {
  private readonly secret: string | undefined
  private readonly known = new Map<string, PolicyText>()
  private last: readonly PolicyText[] = []

  /** @param secret the secret of the partition keys; undefined: fields have none */
  constructor(secret: string | undefined) {
    this.secret = secret
  }

  /** @param policies those of the limiter, in their order; the same array as long as nothing changes */
  of(policies: readonly PolicyDecision[]): readonly PolicyText[] {
    const { secret } = this
    if (secret !== undefined) {
      return policies.map((policy) =>
        policyText(policy, hmac(secret, policy.key).subarray(0, PARTITION_BYTES)),
      )
    }
    for (let i = 0; i < policies.length; i += 1) {
      const { limit, windowMs } = policies[i] as PolicyDecision
      const text = this.last[i]
      if (text === undefined || text.limit !== limit || text.windowMs !== windowMs) {
        this.last = policies.map((policy) => this.text(policy))
        break
      }
    }
    return this.last
  }

  private text(policy: PolicyDecision): PolicyText {
    const id = `${policy.limit} ${policy.windowMs} ${policy.name}`
    let text = this.known.get(id)
    if (text === undefined) {
      text = policyText(policy)
      if (this.known.size === MAX_TEXTS) this.known.clear()
      this.known.set(id, text)
    }
    return text
  }
}
