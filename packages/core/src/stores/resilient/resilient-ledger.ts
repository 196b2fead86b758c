import { KeyState, type Outcome } from '../../algorithms/algorithm.ts'
import { togetherBy } from '../../key/notation.ts'
import { clientsOf } from '../rules/change.ts'
import { isOnRefusal } from '../rules/decide-all.ts'
import { hasClaim } from '../rules/slots.ts'
import type {
  Change,
  Charge,
  ChargeIncrease,
  GrantResult,
  Ledger,
  Origin,
  RenewChange,
  SettleChange,
  StoreResult,
} from '../store.ts'
import type { Attempt, GuardedLedger } from './guarded-ledger.ts'
import type { Learn, LedgerRefusals } from './refusals.ts'

/** The results of one request. */
type Decided = Promise<readonly [StoreResult]>

/** A part of a change, for the keys of one shard. */
interface ChangePart {
  readonly ledger: GuardedLedger
  readonly change: Change
  readonly policies?: readonly number[]
}

/**
 * Answers from remembered refusals if possible, otherwise calls the store. Keeps the charges that it is
 * given until it has answered.
 *
 * Where the store decides keys separately, as a Redis Cluster does, the policies of one key are decided in
 * one call, atomically, and so are those of keys with the same `{shard}` before them. Where a request has
 * several others (its address and its user), those of each key are
 * decided by its shard, all at the same time: by the store or, if that shard fails, by its replacement. One
 * refusal is enough: what the others have granted is given back, in the background. It is weaker than one
 * shard in two ways: from a grant until it is given back, others may be refused that would have been
 * admitted (or wait longer, in a leaky bucket); and a grant stays charged if its shard fails before it is
 * given back.
 */
export class ResilientLedger implements Ledger<'async'> {
  readonly #all: GuardedLedger
  readonly #openSome: (policies: readonly number[]) => GuardedLedger
  readonly #some = new Map<string, GuardedLedger>()
  readonly #refusals: LedgerRefusals

  /**
   * @param all the ledger of all policies
   * @param openSome opens the ledger of some of the policies, by their numbers from 0
   */
  constructor(
    all: GuardedLedger,
    openSome: (policies: readonly number[]) => GuardedLedger,
    refusals: LedgerRefusals,
  ) {
    this.#all = all
    this.#openSome = openSome
    this.#refusals = refusals
  }

  decide(
    requests: readonly (readonly Charge[])[],
    isPeek = false,
  ): Promise<readonly StoreResult[]> {
    const decide = isPeek ? this.#peek : this.#decideOne
    // Limiters ask one.
    if (requests.length === 1) return decide.call(this, requests[0] as readonly Charge[])
    return Promise.all(requests.map((charges) => decide.call(this, charges))).then((all) =>
      all.flat(),
    )
  }

  /** Makes one call for each key or shard, if the store decides keys separately. */
  change(
    change: Change,
    onIncrease?: (increase: ChargeIncrease) => void,
  ): Promise<GrantResult | undefined> {
    if (change.kind === 'renew') return this.#changeParts(change, onIncrease)
    if (change.kind === 'settle') this.#refusals.settles()
    // What a client has of its own holds in every window and algorithm of its policy.
    const where = 'limit' in change ? 'everywhere' : 'here'
    return this.#refusals.ending(clientsOf(change), where, () =>
      this.#changeParts(change, onIncrease),
    )
  }

  async #changeParts(change: Change, onIncrease: ((increase: ChargeIncrease) => void) | undefined) {
    if ('key' in change || !this.#all.isSharded) return this.#all.change(change, onIncrease)
    const parts = change.kind === 'settle' ? this.#settlements(change) : this.#renewals(change)
    const changed = parts.map(({ ledger, change, policies }) => {
      const placed =
        onIncrease &&
        ((increase: ChargeIncrease) =>
          onIncrease({ ...increase, place: policies?.[increase.place] as number }))
      return ledger.change(change, placed)
    })
    await Promise.all(changed)
    return undefined
  }

  #settlements(change: SettleChange): ChangePart[] {
    return this.#byKey(change.charges).flatMap(({ policies, ledger, own }) =>
      own.some(corrects) ? { ledger, policies, change: { ...change, charges: own } } : [],
    )
  }

  #renewals({ requests }: RenewChange): ChangePart[] {
    const parts = new Map<string, { ledger: GuardedLedger; requests: Charge[][] }>()
    for (const charges of requests) {
      for (const { policies, ledger, own } of this.#byKey(charges)) {
        if (!own.some(hasClaim)) continue
        const id = `${policies} ${togetherBy((own[0] as Charge).key)}`
        const part = parts.get(id) ?? { ledger, requests: [] }
        parts.set(id, part)
        part.requests.push(own)
      }
    }
    return Array.from(parts.values(), ({ ledger, requests }) => {
      return { ledger, change: { kind: 'renew', requests } }
    })
  }

  /** Whether the store would be called: every shard that has one of the keys. */
  isTrusted(charges: readonly Charge[]): boolean {
    return charges.every(({ key }) => this.#all.isTrusted(key))
  }

  #decideOne(charges: readonly Charge[]): Decided {
    const known = this.#refusals.find(charges, this)
    if (known !== undefined) return Promise.resolve([known])
    const learn = this.#refusals.learner(charges)
    return this.#all.isSharded
      ? this.#decideByKey(charges, learn)
      : this.#all.decide(charges, learn)
  }

  async #peek(charges: readonly Charge[]): Promise<readonly StoreResult[]> {
    if (!this.#all.isSharded) return this.#all.peek([charges])
    const groups = this.#byKey(charges)
    const peeked = groups.map(async ({ ledger, own }) => {
      const uncharged = own.map((charge) => ({ ...charge, cost: 0 }))
      const [result, { outcomes }] = (await ledger.peek([own, uncharged])) as [
        StoreResult,
        StoreResult,
      ]
      return { result, uncharged: outcomes }
    })
    return [merged(charges, groups, await Promise.all(peeked))]
  }

  async #decideByKey(charges: readonly Charge[], learn: Learn): Decided {
    const groups = this.#byKey(charges)
    if (groups.length === 1) return this.#all.decide(charges, learn)
    const attempts = await Promise.all(groups.map(({ ledger, own }) => ledger.attempt(own)))
    const result = merged(charges, groups, attempts)
    for (const attempt of attempts) attempt.conclude(result.admitted)
    return [learn(result)]
  }

  /** The charges of each key or shard, the numbers of their policies, and the ledger of these. */
  #byKey(charges: readonly Charge[]) {
    const groups = new Map<string, number[]>()
    for (const [policy, { key }] of charges.entries()) {
      const together = togetherBy(key)
      const policies = groups.get(together) ?? []
      groups.set(together, policies)
      policies.push(policy)
    }
    return [...groups.values()].map((policies) => {
      const own = policies.map((policy) => charges[policy] as Charge)
      return { policies, own, ledger: this.#ledgerOf(policies, charges.length) }
    })
  }

  #ledgerOf(policies: readonly number[], count: number): GuardedLedger {
    if (policies.length === count) return this.#all
    const ledger = this.#some.get(`${policies}`) ?? this.#openSome(policies)
    this.#some.set(`${policies}`, ledger)
    return ledger
  }
}

/** Whether a settlement does anything: one by 0 units may end what is claimed. */
function corrects({ cost, claim }: Charge): boolean {
  return cost !== 0 || claim !== undefined
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
