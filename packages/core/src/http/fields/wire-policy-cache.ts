import { hmac } from '#platform'
import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import type { PolicyDecision } from '../../limiter/decision.ts'
import type { Charge } from '../../stores/store.ts'
import { WirePolicy } from './wire-policy.ts'

/** Bytes of a partition key: enough to distinguish a client's own quotas, too few to look up. */
const PARTITION_BYTES = 9

/** The texts of policies: made once for each, or, with partition keys, for each request. */
export class WirePolicyCache {
  private readonly policies = new WeakMap<CompiledLimit, WirePolicy>()
  private readonly secret: string | undefined

  /** @param secret of the partition keys; undefined: fields carry none */
  constructor(secret: string | undefined) {
    this.secret = secret
  }

  policy(charge: Charge, { name, unit, limit: quota, windowMs: ms }: PolicyDecision): WirePolicy {
    // For how long a slot is held is no window in which it is used up.
    const windowMs = charge.slot === undefined ? ms : undefined
    if (this.secret !== undefined) {
      const partitionKey = hmac(this.secret, charge.key)
      return new WirePolicy({
        name,
        unit,
        quota,
        windowMs,
        partitionKey: partitionKey.subarray(0, PARTITION_BYTES),
      })
    }
    let policy = this.policies.get(charge.limit)
    if (policy === undefined) {
      policy = new WirePolicy({ name, unit, quota, windowMs })
      this.policies.set(charge.limit, policy)
    }
    return policy
  }
}
