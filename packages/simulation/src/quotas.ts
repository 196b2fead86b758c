import type { PlannedPolicy } from './plan.ts'

/**
 * What is counted: a quota for each policy, and one more for each other length that its window may have. The first
 * ones are those of the policies, in their order.
 */
export class Quotas {
  readonly all: readonly PlannedPolicy[]
  /** How many policies they are of. */
  readonly policies: number
  /** Whether a policy has several. */
  readonly vary: boolean
  /** The numbers of the further ones, by the number of the policy and the length, ms. */
  private readonly further = new Map<string, number>()

  constructor(policies: readonly PlannedPolicy[]) {
    const all = [...policies]
    for (const [i, policy] of policies.entries()) {
      if ('hold' in policy) continue
      for (const window of policy.windows ?? [])
        this.further.set(`${i} ${window}`, all.push({ ...policy, window }) - 1)
    }
    this.all = all
    this.policies = policies.length
    this.vary = all.length > policies.length
  }

  /** The number of the quota of a policy, for requests with this window, ms. Undefined: they have none of their own */
  of(policy: number, window: number | undefined): number {
    if (window === undefined || !this.vary) return policy
    return this.further.get(`${policy} ${window}`) ?? policy
  }

  /** The number of the quota of a policy that a store keeps by this name; -1: none has this window. */
  named(policy: number, name: string): number {
    const planned = this.all[policy] as PlannedPolicy
    if ('hold' in planned || planned.windows === undefined) return policy
    const window = Number(name.split(':')[1])
    return window === planned.window ? policy : (this.further.get(`${policy} ${window}`) ?? -1)
  }

  /** Whether a quota is one of a policy. */
  isOf(policy: number, quota: number | undefined): boolean {
    const { name, isOfRoute } = this.all[policy] as PlannedPolicy
    const own = this.all[quota ?? -1]
    return own?.name === name && own.isOfRoute === isOfRoute
  }

  /** The windows that requests may have, where they differ, ms. */
  get windows(): readonly number[] {
    const windows = this.all.flatMap((each) =>
      'windows' in each && each.windows ? each.window : [],
    )
    return [...new Set(windows)]
  }
}
