import { inVersion, type PlannedPolicy, type PlannedVersion } from './plan.ts'

/**
 * What is counted: a quota for each policy, one more for each other length that its window may have, and one more for
 * each version of the application in which it counts elsewhere. The first ones are those of the policies, in their
 * order.
 */
export class Quotas {
  readonly all: readonly PlannedPolicy[]
  /** How many policies they are of. */
  readonly policies: number
  /** Whether the window of a policy depends on the request. */
  readonly vary: boolean
  /** The number of the quota of each policy. */
  readonly #places: readonly number[]
  /** The numbers of the further ones, by the number of the policy and the length, ms. */
  readonly #further = new Map<string, number>()
  /** The numbers of the quotas of other versions, by what their states depend on. */
  readonly #elsewhere = new Map<string, number>()

  readonly #policies: readonly PlannedPolicy[]
  readonly #versions: readonly PlannedVersion[]

  /**
   * @param versions the other versions of the application
   * @param places the number of the quota of each policy
   */
  constructor(
    policies: readonly PlannedPolicy[],
    versions: readonly PlannedVersion[] = [],
    places: readonly number[] = [...policies.keys()],
  ) {
    this.#policies = policies
    this.#versions = versions
    const all = [...policies]
    for (const [i, policy] of policies.entries()) {
      if ('hold' in policy) continue
      for (const window of policy.windows ?? [])
        this.#further.set(`${i} ${window}`, all.push({ ...policy, window }) - 1)
    }
    this.vary = all.length > policies.length
    for (const [i, policy] of policies.entries()) {
      this.#elsewhere.set(`${i} ${stateOf(policy)}`, i)
      for (const version of versions) {
        const own = inVersion(policy, { ...version, ...SAME_COUNT })
        const id = `${i} ${stateOf(own)}`
        if (!this.#elsewhere.has(id)) this.#elsewhere.set(id, all.push(own) - 1)
      }
    }
    this.all = all
    this.#places = places
    this.policies = policies.length
  }

  /** The quotas of requests to a version of the application. */
  inVersion(version: PlannedVersion): Quotas {
    const places = this.#places.map(
      (place, i) =>
        this.#elsewhere.get(`${i} ${stateOf(inVersion(this.all[i] as PlannedPolicy, version))}`) ??
        place,
    )
    return new Quotas(this.#policies, this.#versions, places)
  }

  /** The number of the quota of a policy, for requests with this window, ms. Undefined: they have none of their own */
  of(policy: number, window: number | undefined): number {
    const place = this.#places[policy] as number
    if (window === undefined || !this.vary) return place
    return this.#further.get(`${policy} ${window}`) ?? place
  }

  /** The number of the quota of a policy that a store keeps by this name; -1: none has this window. */
  named(policy: number, name: string): number {
    const place = this.#places[policy] as number
    const planned = this.all[place] as PlannedPolicy
    if ('hold' in planned || planned.windows === undefined) return place
    const window = Number(name.split(':')[1])
    return window === planned.window ? place : (this.#further.get(`${policy} ${window}`) ?? -1)
  }

  /** Whether a quota is one of a policy. */
  isOf(policy: number, quota: number | undefined): boolean {
    const { name, isOfRoute } = this.all[this.#places[policy] as number] as PlannedPolicy
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

/** What of a version changes nothing of where it counts. */
const SAME_COUNT = { limit: undefined, hold: undefined, enforce: undefined, isFixed: undefined }

/** All that the meaning of a policy's states depends on. */
function stateOf(policy: PlannedPolicy): string {
  if ('hold' in policy) return `slots of ${policy.name}`
  return `${policy.algorithm} in ${policy.window} ms of ${policy.name}`
}
