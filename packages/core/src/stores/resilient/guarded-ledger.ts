import type { Outcome } from '../../algorithms/algorithm.ts'
import { StoreError } from '../../errors/store-error.ts'
import { Batches } from '../calls/batches.ts'
import type { PartCalls, StoreCalls } from '../calls/store-calls.ts'
import type { Charge, DecisionSource, Ledger, StoreResult } from '../store.ts'
import type { FailureMode } from './failure-mode.ts'
import type { Learn } from './ledger-refusals.ts'

/** One of the results of a request that is decided in several places: all must admit it. */
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
  readonly part: Ledger['part']
  private readonly remote: Ledger<'async'>
  private readonly openLocal: () => Ledger<'sync'>
  private readonly parts: PartCalls
  private readonly failureMode: FailureMode
  private readonly batches: Batches

  /**
   * @param openLocal returns what this process counts by itself
   * @param parts the calls to each part of the store
   * @param hasBan whether the ledgers were opened with a ban
   */
  constructor(
    remote: Ledger<'async'>,
    openLocal: () => Ledger<'sync'>,
    parts: PartCalls,
    failureMode: FailureMode,
    hasBan: boolean,
  ) {
    this.part = remote.part
    this.remote = remote
    this.openLocal = openLocal
    this.parts = parts
    this.failureMode = failureMode
    this.batches = new Batches(remote, parts, hasBan)
  }

  /** @param learn called with the result, which it returns */
  consume(charges: readonly Charge[], learn: Learn): Promise<StoreResult> {
    const calls = this.callsTo(charges)
    if (!calls.isTrusted) {
      const result = this.standIn(charges)
      this.probeWith(calls, charges, result.admitted)
      return Promise.resolve(learn(result))
    }
    return this.batches.ask([charges], (results) =>
      learn(results ? this.counted(charges, results[0] as StoreResult) : this.standIn(charges)),
    )
  }

  /** Decides charges of the same key, of a request that has others too. */
  attempt(charges: readonly Charge[]): Promise<Attempt> {
    const calls = this.callsTo(charges)
    if (!calls.isTrusted) {
      const attempt = this.attemptHere(charges)
      const conclude = (admitted: boolean) => {
        attempt.conclude(admitted)
        this.probeWith(calls, charges, admitted)
      }
      return Promise.resolve({ ...attempt, conclude })
    }
    const late = new LateGrant((result) => this.giveBack(calls, charges, result))
    return this.batches.ask(
      [charges.map(preview), charges],
      (results) =>
        results ? this.attemptOf(calls, charges, results) : late.after(this.attemptHere(charges)),
      ([, result]) => late.come(result as StoreResult),
    )
  }

  async peek(charges: readonly Charge[]): Promise<StoreResult> {
    const calls = this.callsTo(charges)
    if (!calls.isTrusted) return this.standIn(charges, 'peek')
    return calls.call(() => this.remote.peek(charges)).catch(() => this.standIn(charges, 'peek'))
  }

  /** @throws StoreError if the store does not confirm it: then it applies only in this process */
  async settle(
    charges: readonly Charge[],
    chargedAt?: number,
    source: DecisionSource = 'store',
  ): Promise<void> {
    this.local?.settle(this.localCharges(charges), chargedAt)
    if (source !== 'store') return
    const calls = this.callsTo(charges)
    if (!calls.isTrusted) throw unconfirmed('settle', calls.failure)
    await this.tell('settle', calls, () => this.remote.settle(charges, chargedAt))
  }

  /**
   * Holds slots anew, also those that the store does not know because this process admitted them without
   * it. While the store is down, this probes it: a process that holds slots may get no requests.
   * @throws if the store does not confirm it: then it applies only in this process
   */
  async renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    this.local?.renew?.(requests.map((charges) => this.localCharges(charges)))
    const first = requests[0] as readonly Charge[]
    const calls = this.callsTo(first)
    const renew = async () => this.remote.renew?.(requests)
    if (calls.isTrusted) await calls.call(renew)
    else calls.probe(() => this.askWhetherItWorks(first.map(unpaid)).then(renew))
  }

  /** @throws StoreError if the store does not confirm it: then it applies only in this process */
  async block(key: string, durationMs: number): Promise<void> {
    this.local?.block(key, durationMs)
    const calls = this.parts.of(this.remote, key)
    await this.tell('block', calls, () => this.remote.block(key, durationMs))
  }

  /** @throws StoreError if the store does not confirm it: then it applies only in this process */
  async reset(key: string): Promise<void> {
    this.local?.reset(key)
    const calls = this.parts.of(this.remote, key)
    await this.tell('reset', calls, () => this.remote.reset(key))
  }

  /** Whether the store would be called. */
  isTrusted(charges: readonly Charge[]): boolean {
    return this.callsTo(charges).isTrusted
  }

  /** What this process counts by itself; undefined if it does not decide by that. */
  private get local(): Ledger<'sync'> | undefined {
    return this.failureMode.onStoreError === 'local' ? this.openLocal() : undefined
  }

  private callsTo(charges: readonly Charge[]): StoreCalls {
    return this.parts.of(this.remote, (charges[0] as Charge).key)
  }

  /** Charges the store in the background for what was admitted without it. */
  private probeWith(calls: StoreCalls, charges: readonly Charge[], admitted: boolean): void {
    // A slot is held by its renewal.
    const admittedCharges = charges.map((charge) => {
      return admitted && charge.slot === undefined ? charge : unpaid(charge)
    })
    calls.probe(() => this.askWhetherItWorks(admittedCharges))
  }

  private askWhetherItWorks(charges: readonly Charge[]): Promise<void> {
    return this.remote.probe?.(charges) ?? this.remote.settle(charges)
  }

  private attemptOf(
    calls: StoreCalls,
    charges: readonly Charge[],
    results: readonly StoreResult[],
  ): Attempt {
    const [{ outcomes: uncharged }, result] = results as [StoreResult, StoreResult]
    const conclude = (admitted: boolean) => {
      if (admitted) this.counted(charges, result)
      else if (result.admitted) this.giveBack(calls, charges, result)
    }
    return { result, uncharged, conclude }
  }

  private attemptHere(charges: readonly Charge[]): Attempt {
    const { outcomes: uncharged } = this.standIn(charges.map(unpaid), 'peek')
    const result = this.standIn(charges)
    const conclude = (admitted: boolean) => {
      if (result.source !== 'local' || !result.admitted || admitted) return
      this.local?.settle(this.localCharges(returned(charges)), result.at)
    }
    return { result, uncharged, conclude }
  }

  /** Gives the charge back in the background. If the store fails, the charge stays. */
  private giveBack(calls: StoreCalls, charges: readonly Charge[], { at }: StoreResult): void {
    calls.call(() => this.remote.settle(returned(charges), at)).catch(() => {})
  }

  /** Counts here what the store has admitted. */
  private counted(charges: readonly Charge[], result: StoreResult): StoreResult {
    const { onStoreError, localShare } = this.failureMode
    if (result.admitted && onStoreError === 'local')
      this.openLocal().settle(localShare === 1 ? charges : this.localCharges(charges))
    return result
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

  private async tell(
    operation: string,
    calls: StoreCalls,
    act: () => Promise<void>,
  ): Promise<void> {
    try {
      await calls.call(act)
    } catch (error) {
      throw unconfirmed(operation, error)
    }
  }
}

/** A late admission by the store: given back if the request was refused meanwhile. */
class LateGrant {
  private readonly giveBack: (result: StoreResult) => void
  private grant: StoreResult | undefined
  private isRefused = false

  constructor(giveBack: (result: StoreResult) => void) {
    this.giveBack = giveBack
  }

  /** The decision that replaces the late one. */
  after({ result, uncharged, conclude }: Attempt): Attempt {
    return {
      result,
      uncharged,
      conclude: (admitted) => {
        conclude(admitted)
        this.isRefused = !admitted
        this.check()
      },
    }
  }

  come(result: StoreResult): void {
    if (result.admitted) this.grant = result
    this.check()
  }

  private check(): void {
    if (this.isRefused && this.grant !== undefined) this.giveBack(this.grant)
  }
}

function unpaid({ key, limit }: Charge): Charge {
  return { key, limit, cost: 0 }
}

function preview({ key, limit }: Charge): Charge {
  return { key, limit, cost: 0, isPreview: true }
}

function returned(charges: readonly Charge[]): Charge[] {
  return charges.map((charge) => ({ ...charge, cost: -charge.cost }))
}

function unconfirmed(operation: string, cause: unknown): StoreError {
  return new StoreError({
    code: 'SLUICE_STORE_UNAVAILABLE',
    operation,
    problem: 'the store did not confirm it',
    advice: 'It holds in this process alone: repeat it when the store is back.',
    cause,
  })
}
