import type { CompiledLimit, Override } from '../algorithms/algorithm.ts'
import type {
  Answer,
  Charge,
  DecisionSource,
  GivenGrant,
  GrantResult,
  Ledger,
  OnIncrease,
  Requests,
  StoreMode,
  StoreResult,
} from '../stores/store.ts'

/** A ledger that has a method for each kind of call, so that tests are short. */
export interface LedgerVerbs<M extends StoreMode = StoreMode> extends Ledger<M> {
  consume(charges: readonly Charge[]): Answer<M, StoreResult>
  peek(charges: readonly Charge[]): Answer<M, StoreResult>
  settle(
    charges: readonly Charge[],
    chargedAt?: number,
    source?: DecisionSource,
    onIncrease?: OnIncrease,
  ): Answer<M, unknown>
  renew(requests: Requests): Answer<M, unknown>
  block(key: string, durationMs: number): Answer<M, unknown>
  reset(key: string): Answer<M, unknown>
  override(
    policy: number,
    key: string,
    limit: CompiledLimit,
    override: Override | undefined,
  ): Answer<M, unknown>
  grant(
    policy: number,
    key: string,
    limit: CompiledLimit,
    grant: GivenGrant,
  ): Answer<M, GrantResult>
}

/** The ledger with these methods. A result that is an error is thrown. */
export function withVerbs<M extends StoreMode>(ledger: Ledger<M>): LedgerVerbs<M> {
  const { shard } = ledger
  const decide: Ledger['decide'] = (...given) => ledger.decide(...given) as never
  const change: Ledger['change'] = (...given) => ledger.change(...given) as never
  const one = (charges: readonly Charge[], isPeek: boolean) => {
    const results = decide([charges], isPeek)
    return results instanceof Promise ? results.then(onlyOf) : onlyOf(results)
  }
  const verbs: LedgerVerbs = {
    decide,
    change,
    shard,
    consume: (charges) => one(charges, false),
    peek: (charges) => one(charges, true),
    settle: (charges, chargedAt, source, onIncrease) =>
      change({ kind: 'settle', charges, chargedAt, source }, onIncrease),
    renew: (requests) => change({ kind: 'renew', requests }),
    block: (key, durationMs) => change({ kind: 'block', key, durationMs }),
    reset: (key) => change({ kind: 'reset', key }),
    override: (policy, key, limit, override) =>
      change({ kind: 'override', policy, key, limit, override }),
    grant: (policy, key, limit, grant) =>
      change({ kind: 'grant', policy, key, limit, grant }) as GrantResult,
  }
  return verbs as LedgerVerbs<M>
}

function onlyOf([result]: readonly (StoreResult | Error)[]): StoreResult {
  if (result instanceof Error) throw result
  return result as StoreResult
}
