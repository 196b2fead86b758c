import type { CompiledLimit } from '../algorithms/algorithm.ts'
import type { Charge, Keyspace, Ledger, StoreMode } from '../stores/store.ts'
import type { KeyspaceOptions } from './limiter.ts'
import type { Policy } from './policy.ts'

/** A policy has at most 15: there are more only where several limits vary together. */
const MAX_LEDGERS = 100

/** The ledgers of some policies: one, unless a limit or a window is a function of the request. */
export class PolicyLedgers<M extends StoreMode> {
  private readonly policies: readonly Policy[]
  private readonly open: (keyspaces: readonly Keyspace[]) => Ledger<M>
  /** The ledgers by their keyspaces. */
  private readonly known = new Map<string, Ledger<M>>()
  /** Undefined if there are several. */
  readonly only: Ledger<M> | undefined

  constructor(policies: readonly Policy[], open: (keyspaces: readonly Keyspace[]) => Ledger<M>) {
    this.policies = policies
    this.open = open
    const ledger = this.get(typicalLimits(policies))
    if (policies.every(({ compiledLimit }) => compiledLimit !== undefined)) this.only = ledger
  }

  /** The names of the keyspaces that are known. */
  get names(): string {
    return [...this.known.keys()].join()
  }

  /**
   * The ledger of some charges.
   * @param charges one for each policy, in their order
   */
  of(charges: readonly Charge[]): Ledger<M> {
    return this.only ?? this.get(charges.map(({ limit }) => limit))
  }

  /** All ledgers that are known, and that of a limit and a window which no request has had yet. */
  all({ limit, window }: KeyspaceOptions = {}): readonly Ledger<M>[] {
    if (limit !== undefined || window !== undefined) {
      this.get(this.policies.map((policy) => policy.typicalFor(limit, window)))
    }
    return [...this.known.values()]
  }

  private get(limits: readonly CompiledLimit[]): Ledger<M> {
    const keyspaces = keyspacesOf(this.policies, limits)
    const id = keyspaces.map(({ name }) => name).join('\n')
    let ledger = this.known.get(id)
    if (ledger === undefined) {
      ledger = this.open(keyspaces)
      if (this.known.size === MAX_LEDGERS) this.forgetOldest()
      this.known.set(id, ledger)
    }
    return ledger
  }

  private forgetOldest(): void {
    for (const id of this.known.keys()) {
      this.known.delete(id)
      return
    }
  }
}

/** Where the policies count the requests that have these limits. */
export function keyspacesOf(
  policies: readonly Policy[],
  limits: readonly CompiledLimit[],
): Keyspace[] {
  return policies.map((policy, i) => {
    const limit = limits[i] as CompiledLimit
    return { name: policy.space(limit), algorithm: limit.algorithm, limit: policy.compiledLimit }
  })
}

export function typicalLimits(policies: readonly Policy[]): CompiledLimit[] {
  return policies.map(({ typicalLimit }) => typicalLimit)
}
