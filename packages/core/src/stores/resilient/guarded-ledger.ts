import { timersEndWithRequest } from '#platform'
import { StoreError } from '../../errors/store-error.ts'
import { Batches, type StoreCalls } from '../calls/store-calls.ts'
import { clientsOf } from '../rules/change.ts'
import { isOnRefusal } from '../rules/decide-all.ts'
import { madeOf } from '../rules/slots.ts'
import type {
  Change,
  Charge,
  GrantResult,
  Ledger,
  OnIncrease,
  RenewChange,
  Requests,
  StoreResult,
} from '../store.ts'
import { localShareOf } from './local-share.ts'
import type { Learn } from './refusals.ts'

/** The options for a store that is slow or fails. */
export interface FailureMode {
  /** The longest that a request waits for the store, ms, 1 … 60,000. */
  readonly deadlineMs: number
  /** Decides while the store fails. */
  readonly onStoreError: 'local' | 'allow' | 'deny'
  /** Whether refusals are remembered. Undefined: only if nothing in this process settles. */
  readonly refusalCache: boolean | undefined
  /** How long a refusal is remembered at most, ms, where that is shorter than usual. */
  readonly rememberedMs?: number | undefined
  /** Whether the limiter settles its charges. */
  readonly settles: boolean
  /** The share of the limits that this process admits alone, above 0, up to 1. */
  readonly localShare: number
}

/**
 * Calls a remote ledger, and decides in its place if it is down, overloaded or late. It also counts
 * what this process has admitted, to continue from there. A late call is not repeated: what it has
 * charged stays charged. Keeps the charges that it is given.
 */
export class GuardedLedger {
  protected readonly calls: StoreCalls
  protected readonly batches: Batches
  protected readonly remote: Ledger<'async'>
  /** Counts in this process; undefined if it does not decide by that. */
  readonly #local: Ledger<'sync'> | undefined
  readonly #failureMode: FailureMode

  /** @param local what this process counts by itself; undefined if it does not decide by that */
  constructor(
    remote: Ledger<'async'>,
    local: Ledger<'sync'> | undefined,
    calls: StoreCalls,
    failureMode: FailureMode,
  ) {
    this.remote = remote
    this.#local = local
    this.calls = calls
    this.#failureMode = failureMode
    this.batches = new Batches(remote, calls)
  }

  /**
   * Decides a request.
   * @param learn called with the result, which it returns
   */
  decide(charges: readonly Charge[], learn: Learn): Promise<readonly [StoreResult]> {
    if (!this.calls.isTrusted) {
      const result = this.fallback(charges)
      const probed = this.probeWith(madeBy(result, charges), result.admitted)
      return probed === undefined
        ? Promise.resolve([learn(result)])
        : probed.then(() => [learn(result)])
    }
    return this.batches.ask([charges], (results) => {
      if (results === undefined) return [learn(this.fallback(charges))]
      const [result] = results as [StoreResult]
      if (result.admitted) this.countHere(charges, result)
      return [learn(result)]
    })
  }

  /** Decides each of the requests without charging it. */
  async peek(requests: Requests): Promise<readonly StoreResult[]> {
    const peekHere = () => requests.map((charges) => this.fallback(charges, true))
    if (!this.calls.isTrusted) return peekHere()
    if (this.calls.open.size > 0) this.calls.sendBefore(requests.flat().map(({ key }) => key))
    const peek = async () => (await this.remote.decide(requests, true)).map(orThrow)
    return this.calls.call(peek).catch(peekHere)
  }

  /**
   * Makes a change here and in the store, each where it applies.
   *
   * @throws StoreError if the store does not confirm it: then it applies only in this process, if it is none of what a
   *   client has of its own
   */
  async change(change: Change, onIncrease?: OnIncrease): Promise<GrantResult | undefined> {
    const isOfStore = change.kind !== 'settle' || (change.source ?? 'store') === 'store'
    this.#changeHere(change, isOfStore ? undefined : onIncrease)
    if (!isOfStore) return undefined
    const { calls } = this
    if (!calls.isTrusted && change.kind === 'settle') {
      // A process that repeats a settlement may get no requests.
      this.probeWith(change.charges, false)
      throw unconfirmed('settle', calls.failure)
    }
    if (!calls.isTrusted && change.kind === 'renew') {
      this.#probeAndRenew(change)
      return undefined
    }
    calls.sendBefore(clientsOf(change))
    return calls
      .call(async () => this.remote.change(change, onIncrease))
      .catch((error) => {
        throw unconfirmed(change.kind, error)
      })
  }

  /** Whether the store would be called. */
  isTrusted(): boolean {
    return this.calls.isTrusted
  }

  /**
   * Charges the store in the background for requests that were admitted without it.
   * @returns what to wait for where the runtime would drop it with the request
   */
  protected probeWith(charges: readonly Charge[], admitted: boolean) {
    // What is claimed is held by its renewal.
    const admittedCharges = charges.map((charge) => {
      return admitted && charge.claim === undefined ? charge : withoutCost(charge)
    })
    const probed = this.calls.probe(() => this.#probe(admittedCharges))
    return timersEndWithRequest ? probed : undefined
  }

  async #probe(charges: readonly Charge[]): Promise<void> {
    await this.remote.change({ kind: 'settle', charges, isProbe: true })
  }

  protected fallback(charges: readonly Charge[], isPeek = false): StoreResult {
    const local = this.#local
    if (local === undefined) {
      const { onStoreError: source } = this.#failureMode
      return { admitted: source === 'allow', at: Date.now(), source, outcomes: [] }
    }
    const [decided] = local.decide([this.#localCharges(charges)], isPeek)
    const { admitted, at, outcomes } = decided as StoreResult
    // A synchronous ledger reuses the objects that it returns.
    const copies = outcomes.map((outcome) => ({ ...outcome }))
    return { admitted, at, source: 'local', outcomes: copies }
  }

  #localCharges(charges: readonly Charge[]): readonly Charge[] {
    const { localShare } = this.#failureMode
    if (localShare === 1) return charges
    return charges.map((charge) => {
      return { ...charge, limit: localShareOf(charge.limit, localShare) }
    })
  }

  /** Counts the store's decisions in this process. */
  protected countHere(charges: readonly Charge[], result: StoreResult, chargedAt?: number): void {
    let made = charges
    for (const { limit } of charges)
      if (!limit.refuses || limit.algorithm.chargedOn) made = madeBy(result, charges)
    const isWhole = this.#failureMode.localShare === 1
    const own = isWhole ? made : this.#localCharges(made)
    this.#local?.change({ kind: 'settle', charges: own, chargedAt })
  }

  /** Makes a change to what this process counts by itself, which has nothing of what clients have of their own. */
  #changeHere(change: Change, onIncrease: OnIncrease | undefined): void {
    const local = this.#local
    if (local === undefined || 'limit' in change) return
    if (change.kind === 'settle') {
      const { charges, source = 'store', isRepeated } = change
      if (isRepeated) return
      // This process counts the units that the store has reserved, and reserves none itself.
      const corrected = source === 'store' ? charges.map(unreserved) : charges
      local.change({ ...change, charges: this.#localCharges(corrected) }, onIncrease)
    } else if (change.kind === 'renew') {
      const requests = change.requests.map((charges) => this.#localCharges(charges))
      local.change({ ...change, requests })
    } else local.change(change)
  }

  /**
   * A process that holds slots may get no requests: its renewals probe the store. So they are held again that the
   * store does not know because this process admitted them without it.
   */
  #probeAndRenew(change: RenewChange): void {
    const askedAt = performance.now()
    const [first] = change.requests as [readonly Charge[]]
    this.calls.probe(async () => {
      await this.#probe(first.map(withoutCost))
      // By the time of a late answer, the slots may have been given back: the next period renews those that are held.
      if (performance.now() - askedAt <= this.#failureMode.deadlineMs)
        await this.remote.change(change)
    })
  }
}

/** The charges that an admitted request has made: none of what is charged on a refusal. */
export function madeBy({ outcomes }: StoreResult, charges: readonly Charge[]): readonly Charge[] {
  const own = charges.filter(({ limit }) => !isOnRefusal(limit))
  return madeOf(
    own,
    outcomes.map(({ admitted: allowed }) => ({ allowed })),
  )
}

export function withoutCost({ key, limit }: Charge): Charge {
  return { key, limit, cost: 0 }
}

function unreserved(charge: Charge): Charge {
  return charge.limit.algorithm.reserves ? { ...charge, claim: undefined } : charge
}

/** Advice for a change that the store has not confirmed. */
const ADVICE: Partial<Record<Change['kind'], string>> = {
  override: 'Repeat it when the store is back.',
  grant:
    'The units may have been added or not: repeat it with the same id when the store is back, which adds them once.',
}

function unconfirmed(operation: Change['kind'], cause: unknown): StoreError {
  return new StoreError({
    code: 'SLUICE_STORE_UNAVAILABLE',
    operation,
    problem: 'the store did not confirm it',
    advice:
      ADVICE[operation] ?? 'It holds in this process alone: repeat it when the store is back.',
    cause,
  })
}

function orThrow(result: StoreResult | Error): StoreResult {
  if (result instanceof Error) throw result
  return result
}
