import { KeyState, type Outcome } from '../../algorithms/algorithm.ts'
import { togetherBy } from '../../key/notation.ts'
import { madeOnce } from '../../made-once.ts'
import { isOnRefusal } from '../rules/decide-all.ts'
import { hasClaim, undone } from '../rules/slots.ts'
import type {
  Change,
  Charge,
  ChargeIncrease,
  GrantResult,
  OnIncrease,
  Origin,
  RenewChange,
  Requests,
  StoreResult,
} from '../store.ts'
import { GuardedLedger, madeBy, withoutCost } from './guarded-ledger.ts'
import type { Learn } from './refusals.ts'
import type { Guard } from './resilient-ledger.ts'

/** The charges of one key or shard, the numbers of their policies, and the ledger of these. */
interface Group {
  readonly policies: readonly number[]
  readonly own: readonly Charge[]
  readonly ledger: ShardLedger
}

/** What the ledger of one group says about a request: all must admit it. */
interface Attempt {
  readonly result: StoreResult
  /** The outcomes without the charge; none if no limit decided it. */
  readonly uncharged: readonly Outcome[]
  /** Call it once, with whether the request was admitted: if not, it gives the charge back. */
  conclude(admitted: boolean): void
}

/**
 * The keys of a store that decides them separately, as a Redis Cluster does. The policies of one key are decided in
 * one call, atomically, and so are those of keys with the same `{shard}` before them. Where a request has
 * several others (its address and its user), those of each key are
 * decided by its shard, all at the same time: by the store or, if that shard fails, by its replacement. One
 * refusal is enough: what the others have granted is given back, in the background. It is weaker than one
 * shard in two ways: from a grant until it is given back, others may be refused that would have been
 * admitted (or wait longer, in a leaky bucket); and a grant stays charged if its shard fails before it is
 * given back.
 */
export class ShardedLedger implements Guard {
  readonly #shardOf: (key: string) => number
  readonly #all: readonly number[]
  readonly #open: (policies: readonly number[]) => (shard: number) => ShardLedger
  readonly #opened = new Map<string, (shard: number) => ShardLedger>()
  readonly #ledgers = new Map<string, ShardLedger>()

  /**
   * @param shardOf see `Ledger.shard`
   * @param count how many policies there are
   * @param open opens the ledger of some of them, by their numbers from 0, of which each shard has one
   */
  constructor(
    shardOf: (key: string) => number,
    count: number,
    open: (policies: readonly number[]) => (shard: number) => ShardLedger,
  ) {
    this.#shardOf = shardOf
    this.#all = Array.from({ length: count }, (_, i) => i)
    this.#open = open
  }

  async decide(charges: readonly Charge[], learn: Learn): Promise<readonly [StoreResult]> {
    const groups = this.#groupsOf(charges)
    if (groups.length === 1) return (groups[0] as Group).ledger.decide(charges, learn)
    const attempts = await Promise.all(groups.map(({ ledger, own }) => ledger.attempt(own)))
    const result = merged(charges, groups, attempts)
    for (const attempt of attempts) attempt.conclude(result.admitted)
    return [learn(result)]
  }

  peek(requests: Requests): Promise<readonly StoreResult[]> {
    return Promise.all(requests.map((charges) => this.#peekOne(charges)))
  }

  async #peekOne(charges: readonly Charge[]): Promise<StoreResult> {
    const groups = this.#groupsOf(charges)
    const peeked = groups.map(async ({ ledger, own }) => {
      const uncharged = own.map((charge) => ({ ...charge, cost: 0 }))
      const results = await ledger.peek([own, uncharged])
      const [result, { outcomes }] = results as [StoreResult, StoreResult]
      return { result, uncharged: outcomes }
    })
    return merged(charges, groups, await Promise.all(peeked))
  }

  /** Makes one call for each key or shard. */
  async change(change: Change, onIncrease?: OnIncrease): Promise<GrantResult | undefined> {
    if ('key' in change) return this.#ledgerOf(this.#all, change.key).change(change, onIncrease)
    if (change.kind === 'renew') {
      await Promise.all(this.#renewals(change))
      return undefined
    }
    const settled = this.#groupsOf(change.charges).map(({ policies, ledger, own }) => {
      const placed = (increase: ChargeIncrease) =>
        onIncrease?.({ ...increase, place: policies[increase.place] as number })
      // A settlement by 0 units may end what is claimed.
      const corrects = own.some(({ cost, claim }) => cost !== 0 || claim !== undefined)
      return corrects && ledger.change({ ...change, charges: own }, onIncrease && placed)
    })
    await Promise.all(settled)
    return undefined
  }

  #renewals({ requests }: RenewChange): Promise<unknown>[] {
    const parts = new Map<string, { ledger: ShardLedger; requests: (readonly Charge[])[] }>()
    for (const charges of requests) {
      for (const { policies, ledger, own } of this.#groupsOf(charges)) {
        if (!own.some(hasClaim)) continue
        const id = `${policies} ${togetherBy((own[0] as Charge).key)}`
        madeOnce(parts, id, () => ({ ledger, requests: [] })).requests.push(own)
      }
    }
    return Array.from(parts.values(), ({ ledger, requests }) =>
      ledger.change({ kind: 'renew', requests }),
    )
  }

  isTrusted(charges: readonly Charge[]): boolean {
    return this.#groupsOf(charges).every(({ ledger }) => ledger.isTrusted())
  }

  #groupsOf(charges: readonly Charge[]): Group[] {
    const groups = new Map<string, number[]>()
    for (const [policy, { key }] of charges.entries()) {
      madeOnce(groups, togetherBy(key), () => []).push(policy)
    }
    return [...groups.values()].map((policies) => {
      const own = policies.map((policy) => charges[policy] as Charge)
      return { policies, own, ledger: this.#ledgerOf(policies, (own[0] as Charge).key) }
    })
  }

  #ledgerOf(policies: readonly number[], key: string): ShardLedger {
    const shard = this.#shardOf(key)
    const id = `${policies} of ${shard}`
    const open = () => this.#open(policies)
    return madeOnce(this.#ledgers, id, () => madeOnce(this.#opened, `${policies}`, open)(shard))
  }
}

/** The ledger of some policies in one shard. */
export class ShardLedger extends GuardedLedger {
  /** Decides charges of the same key or shard, of a request that has others too. */
  async attempt(charges: readonly Charge[]): Promise<Attempt> {
    if (!this.calls.isTrusted) {
      const attempt = this.#attemptHere(charges)
      const conclude = (admitted: boolean) => {
        attempt.conclude(admitted)
        this.probeWith(madeBy(attempt.result, charges), admitted)
      }
      return { ...attempt, conclude }
    }
    let isRefused = false
    /** A late admission by the store: given back if the request was refused meanwhile. */
    let grant: StoreResult | undefined
    const check = () => {
      if (isRefused && grant !== undefined) this.#giveBack(charges, grant)
    }
    const late = (results: readonly StoreResult[] | undefined) => {
      if (results?.[1]?.admitted) grant = results[1]
      check()
    }
    const requests = [charges.map(withoutCost), charges]
    const results = await this.batches.ask(requests, (decided) => decided, late)
    if (results !== undefined) {
      const [{ outcomes: uncharged }, result] = results as [StoreResult, StoreResult]
      const conclude = (admitted: boolean) => {
        if (admitted) this.countHere(charges, result)
        else if (result.admitted) this.#giveBack(charges, result)
      }
      return { result, uncharged, conclude }
    }
    const attempt = this.#attemptHere(charges)
    const conclude = (admitted: boolean) => {
      attempt.conclude(admitted)
      isRefused = !admitted
      check()
    }
    return { ...attempt, conclude }
  }

  #attemptHere(charges: readonly Charge[]): Attempt {
    const { outcomes: uncharged } = this.fallback(charges.map(withoutCost), true)
    const result = this.fallback(charges)
    const conclude = (admitted: boolean) => {
      if (result.source !== 'local' || !result.admitted || admitted) return
      this.countHere(undone(madeBy(result, charges), result.outcomes), result, result.at)
    }
    return { result, uncharged, conclude }
  }

  /** Gives the charge back in the background. If the store fails, the charge stays. */
  #giveBack(charges: readonly Charge[], given: StoreResult): void {
    const made = madeBy(given, charges)
    if (!made.some(({ cost, claim }) => cost > 0 || claim !== undefined)) return
    const { at: chargedAt, outcomes } = given
    const change: Change = { kind: 'settle', charges: undone(made, outcomes), chargedAt }
    this.calls.call(() => this.remote.change(change)).catch(() => {})
  }
}

function merged(
  charges: readonly Charge[],
  groups: readonly { readonly policies: readonly number[] }[],
  attempts: readonly Pick<Attempt, 'result' | 'uncharged'>[],
): StoreResult {
  const results = attempts.map(({ result }) => result)
  const admitted = results.every((result) => result.admitted)
  const at = Math.max(...results.map((result) => result.at))
  const deciding = results.filter((result) => result.admitted === admitted)
  // Of a refusal: who refused, a limit if any did. Otherwise the store, or the replacement of a shard.
  const common = admitted ? 'store' : 'deny'
  const source = deciding.find((result) => result.source !== common)?.source ?? common
  if (deciding.every(({ outcomes }) => outcomes.length === 0)) {
    return { admitted, at, source, outcomes: [] }
  }
  const outcomes: Outcome[] = []
  const origins: Origin[] = []
  attempts.forEach(({ result, uncharged }, i) => {
    const shown = result.admitted && !admitted ? uncharged : result.outcomes
    groups[i]?.policies.forEach((policy, j) => {
      outcomes[policy] = shown[j] ?? unasked(result, charges[policy] as Charge)
      origins[policy] = { at: result.at, source: result.source }
    })
  })
  return { admitted, at, source, outcomes, origins }
}

/**
 * The outcome of a policy that could not be read: full if all pass, with nothing remaining if none does. What counts
 * refusals does not refuse by itself.
 */
function unasked({ admitted, at }: StoreResult, { limit }: Charge): Outcome {
  if (!admitted && !isOnRefusal(limit))
    return { admitted, remaining: 0, resetMs: 0, retryAfterMs: 0, effectiveMs: 0, delayMs: 0 }
  const state = new KeyState()
  limit.decide(state, at, 0)
  const { remaining, resetMs, effectiveMs, delayMs } = state
  return { admitted: true, remaining, resetMs, retryAfterMs: 0, effectiveMs, delayMs }
}
