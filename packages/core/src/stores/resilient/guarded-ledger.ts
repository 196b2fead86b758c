import { timersEndWithRequest } from '#platform'
import type { CompiledLimit, Outcome, Override } from '../../algorithms/algorithm.ts'
import { confirmedLate, StoreError } from '../../errors/store-error.ts'
import { Batches, type ShardCalls, type StoreCalls } from '../calls/store-calls.ts'
import { undone } from '../rules/slots.ts'
import type {
  Charge,
  DecisionSource,
  GivenGrant,
  GrantResult,
  Ledger,
  Raise,
  StoreResult,
} from '../store.ts'
import type { Learn } from './refusals.ts'

/** What a limiter does while its store is slow or fails. */
export interface FailureMode {
  /** The longest that a request waits for the store, ms, 1 … 60,000. */
  readonly deadlineMs: number
  /** What decides while the store fails. */
  readonly onStoreError: 'local' | 'allow' | 'deny'
  /** Whether refusals are remembered. Undefined: only if nothing in this process settles. */
  readonly refusalCache: boolean | undefined
  /** Whether the limiter settles what it has charged. */
  readonly settles: boolean
  /** The share of the limits that this process admits alone, above 0, up to 1. */
  readonly localShare: number
  /** The local share of a quota of the policy with this number, from 0. */
  localLimit(policy: number, limit: CompiledLimit): CompiledLimit
}

/** One of the results of a request whose keys are decided separately: all must admit it. */
export interface Attempt {
  readonly result: StoreResult
  /** The outcomes without the charge; none if no limit decided it. */
  readonly uncharged: readonly Outcome[]
  /** Call it once, with whether the request was admitted: if not, it gives the charge back. */
  conclude(admitted: boolean): void
}

/**
 * Calls a remote ledger, and decides in its place if it is down, overloaded or late. It also counts
 * what this process has admitted, to continue from there. A late call is not repeated: what it has
 * charged stays charged. Keeps the charges that it is given.
 */
export class GuardedLedger {
  /** Whether the store decides keys separately. */
  readonly isSharded: boolean
  private readonly remote: Ledger<'async'>
  /** What this process counts by itself; undefined if it does not decide by that. */
  private readonly local: Ledger<'sync'> | undefined
  private readonly calls: ShardCalls
  private readonly failureMode: FailureMode
  private readonly batches: Batches

  /**
   * @param local what this process counts by itself; undefined if it does not decide by that
   * @param calls the calls to each shard of the store
   * @param hasBan whether the ledgers were opened with a ban
   */
  constructor(
    remote: Ledger<'async'>,
    local: Ledger<'sync'> | undefined,
    calls: ShardCalls,
    failureMode: FailureMode,
    hasBan: boolean,
  ) {
    this.isSharded = remote.shard !== undefined
    this.remote = remote
    this.local = local
    this.calls = calls
    this.failureMode = failureMode
    this.batches = new Batches(remote, hasBan)
  }

  /** @param learn called with the result, which it returns */
  consume(charges: readonly Charge[], learn: Learn): Promise<StoreResult> {
    const calls = this.calls.to(this.remote, charges)
    if (!calls.isTrusted) {
      const result = this.standIn(charges)
      const probed = this.probeWith(calls, charges, result.admitted)
      return probed === undefined
        ? Promise.resolve(learn(result))
        : probed.then(() => learn(result))
    }
    return this.batches.ask([charges], calls, (results) => {
      if (results === undefined) return learn(this.standIn(charges))
      const [result] = results as [StoreResult]
      if (result.admitted) this.local?.settle(this.localCharges(charges))
      return learn(result)
    })
  }

  /** Decides charges of the same key, of a request that has others too. */
  async attempt(charges: readonly Charge[]): Promise<Attempt> {
    const calls = this.calls.to(this.remote, charges)
    if (!calls.isTrusted) {
      const attempt = this.attemptHere(charges)
      const conclude = (admitted: boolean) => {
        attempt.conclude(admitted)
        this.probeWith(calls, charges, admitted)
      }
      return { ...attempt, conclude }
    }
    let isRefused = false
    /** A late admission by the store: given back if the request was refused meanwhile. */
    let grant: StoreResult | undefined
    const check = () => {
      if (isRefused && grant !== undefined) this.giveBack(calls, charges, grant)
    }
    const late = (results: readonly StoreResult[] | undefined) => {
      if (results?.[1]?.admitted) grant = results[1]
      check()
    }
    const requests = [charges.map(preview), charges]
    const results = await this.batches.ask(requests, calls, (decided) => decided, late)
    if (results !== undefined) return this.attemptOf(calls, charges, results)
    const attempt = this.attemptHere(charges)
    const conclude = (admitted: boolean) => {
      attempt.conclude(admitted)
      isRefused = !admitted
      check()
    }
    return { ...attempt, conclude }
  }

  async peek(charges: readonly Charge[]): Promise<StoreResult> {
    const calls = this.calls.to(this.remote, charges)
    if (!calls.isTrusted) return this.standIn(charges, 'peek')
    return calls.call(() => this.remote.peek(charges)).catch(() => this.standIn(charges, 'peek'))
  }

  /** @throws StoreError if the store does not confirm it: then it applies only in this process */
  async settle(
    charges: readonly Charge[],
    chargedAt?: number,
    source: DecisionSource = 'store',
    raised?: (raise: Raise) => void,
  ): Promise<void> {
    const isOfStore = source === 'store'
    // This process counts what the store has reserved, and reserves nothing for it.
    const corrected = isOfStore ? charges.map(unreserved) : charges
    if (!charges.some(({ isRepeated }) => isRepeated))
      this.local?.settle(
        this.localCharges(corrected),
        chargedAt,
        source,
        isOfStore ? undefined : raised,
      )
    if (!isOfStore) return
    const calls = this.calls.to(this.remote, charges)
    if (!calls.isTrusted) {
      // A process that repeats a settlement may get no requests.
      this.probeWith(calls, charges, false)
      throw unconfirmed('settle', calls.failure)
    }
    await this.tell('settle', calls, () => this.remote.settle(charges, chargedAt, source, raised))
  }

  /**
   * Holds slots anew, also those that the store does not know because this process admitted them without
   * it. While the store is down, this probes it: a process that holds slots may get no requests.
   * @throws if the store does not confirm it: then it applies only in this process
   */
  async renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    this.local?.renew?.(requests.map((charges) => this.localCharges(charges)))
    const first = requests[0] as readonly Charge[]
    const calls = this.calls.to(this.remote, first)
    const renew = async () => this.remote.renew?.(requests)
    const askedAt = performance.now()
    // By the time that a late answer comes, the slots may have been given back: the next period renews what is held.
    const renewInTime = async () => {
      if (performance.now() - askedAt <= this.failureMode.deadlineMs) await renew()
    }
    if (calls.isTrusted) await calls.call(renew)
    else calls.probe(() => this.askWhetherItWorks(first.map(unpaid)).then(renewInTime))
  }

  /** @throws StoreError if the store does not confirm it: then it applies only in this process */
  async block(key: string, durationMs: number): Promise<void> {
    this.local?.block(key, durationMs)
    const calls = this.calls.to(this.remote, [{ key }])
    await this.tell('block', calls, () => this.remote.block(key, durationMs))
  }

  /** @throws StoreError if the store does not confirm it: then it applies only in this process */
  async reset(key: string): Promise<void> {
    this.local?.reset(key)
    const calls = this.calls.to(this.remote, [{ key }])
    await this.tell('reset', calls, () => this.remote.reset(key))
  }

  /** @throws StoreError if the store does not confirm it: then it may hold or not. SluiceError if it can't keep any */
  async override(
    policy: number,
    key: string,
    limit: CompiledLimit,
    override: Override | undefined,
  ): Promise<void> {
    const { remote } = this
    const calls = this.calls.to(remote, [{ key }])
    const act = async () => remote.override?.(policy, key, limit, override)
    await this.tell('override', calls, act, 'Repeat it when the store is back.')
  }

  /** @throws StoreError if the store does not confirm it: then it may hold or not. SluiceError if it can't keep any */
  grant(
    policy: number,
    key: string,
    limit: CompiledLimit,
    grant: GivenGrant,
  ): Promise<GrantResult> {
    const { remote } = this
    const calls = this.calls.to(remote, [{ key }])
    const act = async () => remote.grant?.(policy, key, limit, grant) as Promise<GrantResult>
    const advice =
      'The units may have been added or not: repeat it with the same id when the store is back, which adds them once.'
    return this.tell('grant', calls, act, advice)
  }

  /** Whether the store would be called. */
  isTrusted(key: string): boolean {
    return this.calls.to(this.remote, [{ key }]).isTrusted
  }

  /**
   * Charges the store in the background for what was admitted without it.
   * @returns what to wait for where the runtime would drop it with the request
   */
  private probeWith(calls: StoreCalls, charges: readonly Charge[], admitted: boolean) {
    // A slot is held by its renewal.
    const admittedCharges = charges.map((charge) => {
      return admitted && charge.slot === undefined ? charge : unpaid(charge)
    })
    const probed = calls.probe(() => this.askWhetherItWorks(admittedCharges))
    return timersEndWithRequest ? probed : undefined
  }

  private async askWhetherItWorks(charges: readonly Charge[]): Promise<void> {
    return this.remote.probe?.(charges) ?? this.remote.settle(charges)
  }

  private attemptOf(
    calls: StoreCalls,
    charges: readonly Charge[],
    results: readonly StoreResult[],
  ): Attempt {
    const [{ outcomes: uncharged }, result] = results as [StoreResult, StoreResult]
    const conclude = (admitted: boolean) => {
      if (admitted) this.local?.settle(this.localCharges(charges))
      else if (result.admitted) this.giveBack(calls, charges, result)
    }
    return { result, uncharged, conclude }
  }

  private attemptHere(charges: readonly Charge[]): Attempt {
    const { outcomes: uncharged } = this.standIn(charges.map(unpaid), 'peek')
    const result = this.standIn(charges)
    const conclude = (admitted: boolean) => {
      if (result.source !== 'local' || !result.admitted || admitted) return
      this.local?.settle(this.localCharges(undone(charges, result.outcomes)), result.at)
    }
    return { result, uncharged, conclude }
  }

  /** Gives the charge back in the background. If the store fails, the charge stays. */
  private giveBack(calls: StoreCalls, charges: readonly Charge[], given: StoreResult): void {
    if (!charges.some(({ cost, slot }) => cost > 0 || slot !== undefined)) return
    const { at, outcomes } = given
    calls.call(() => this.remote.settle(undone(charges, outcomes), at)).catch(() => {})
  }

  private standIn(
    charges: readonly Charge[],
    operation: 'consume' | 'peek' = 'consume',
  ): StoreResult {
    const { local } = this
    if (local === undefined) {
      const { onStoreError: source } = this.failureMode
      return { admitted: source === 'allow', at: Date.now(), source, outcomes: [] }
    }
    const { admitted, at, outcomes, ban } = local[operation](this.localCharges(charges))
    // A synchronous ledger reuses the objects that it returns.
    const copies = outcomes.map((outcome) => ({ ...outcome }))
    return { admitted, at, source: 'local', outcomes: copies, ban: ban && { ...ban } }
  }

  private localCharges(charges: readonly Charge[]): readonly Charge[] {
    if (this.failureMode.localShare === 1) return charges
    return charges.map((charge, i) => {
      return { ...charge, limit: this.failureMode.localLimit(i, charge.limit) }
    })
  }

  private tell<T>(
    operation: string,
    calls: StoreCalls,
    act: () => Promise<T>,
    advice?: string,
  ): Promise<T> {
    return new Promise((answered, failed) => {
      let failure: StoreError
      const fail = (error: unknown) => {
        failure = unconfirmed(operation, error, advice)
        failed(failure)
      }
      calls.send(act, answered, fail, () => confirmedLate.add(failure))
    })
  }
}

function unpaid({ key, limit }: Charge): Charge {
  return { key, limit, cost: 0 }
}

function preview({ key, limit }: Charge): Charge {
  return { key, limit, cost: 0, isUncounted: true }
}

function unreserved(charge: Charge): Charge {
  return charge.reserved === undefined ? charge : { ...charge, reserved: undefined }
}

function unconfirmed(
  operation: string,
  cause: unknown,
  advice = 'It holds in this process alone: repeat it when the store is back.',
): StoreError {
  return new StoreError({
    code: 'SLUICE_STORE_UNAVAILABLE',
    operation,
    problem: 'the store did not confirm it',
    advice,
    cause,
  })
}
