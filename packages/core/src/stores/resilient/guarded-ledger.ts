import type { Outcome } from '../../algorithms/algorithm.ts'
import { StoreError } from '../../errors/store-error.ts'
import type { Charge, DecisionSource, Ledger, StoreResult } from '../store.ts'
import { Batches } from './batches.ts'
import type { Health } from './health.ts'
import type { Note } from './ledger-refusals.ts'
import type { DecidingLedger, FailureMode } from './resilient-ledger.ts'

/** One of the results of a request that is decided in several places: all must admit it. */
export interface Attempt {
  readonly result: StoreResult
  /** Its outcomes without the charge; none if no limit decided it. */
  readonly uncharged: readonly Outcome[]
  /** Call it once, with whether the request was admitted: if not, it gives the charge back. */
  conclude(admitted: boolean): void
}

/**
 * Calls a remote ledger, and decides in its place if it is down, overloaded or late. It also counts
 * what this process has admitted, to continue from there. A late call is not repeated: what it has
 * charged stays charged. Keeps the charges that it is given.
 */
export class GuardedLedger implements DecidingLedger {
  readonly part: Ledger['part']
  private readonly remote: Ledger<'async'>
  private readonly openLocal: () => Ledger<'sync'>
  private readonly healthOf: (key: string) => Health
  private readonly failureMode: FailureMode
  private readonly batches: Batches

  /**
   * @param openLocal returns what this process counts by itself
   * @param healthOf the health of the part of the store that a key is in
   */
  constructor(
    remote: Ledger<'async'>,
    openLocal: () => Ledger<'sync'>,
    healthOf: (key: string) => Health,
    failureMode: FailureMode,
  ) {
    this.part = remote.part
    this.remote = remote
    this.openLocal = openLocal
    this.healthOf = healthOf
    this.failureMode = failureMode
    this.batches = new Batches(remote, healthOf)
  }

  consume(charges: readonly Charge[], note: Note): Promise<StoreResult> {
    const health = this.health(charges)
    if (!health.isTrusted) {
      const result = this.standIn(charges)
      this.probeWith(health, charges, result.admitted)
      return Promise.resolve(note(result))
    }
    return this.batches.ask(
      [charges],
      ([result]) => note(this.learnt(charges, result as StoreResult)),
      () => note(this.standIn(charges)),
    )
  }

  /** Decides charges of the same key, of a request that has others too. */
  attempt(charges: readonly Charge[]): Promise<Attempt> {
    const health = this.health(charges)
    if (!health.isTrusted) {
      const attempt = this.attemptHere(charges)
      const conclude = (admitted: boolean) => {
        attempt.conclude(admitted)
        this.probeWith(health, charges, admitted)
      }
      return Promise.resolve({ ...attempt, conclude })
    }
    const late = new LateGrant((result) => this.giveBack(health, charges, result))
    return this.batches.ask(
      [charges.map(unpaid), charges],
      ([uncharged, result]) =>
        this.attemptOf(health, charges, uncharged as StoreResult, result as StoreResult),
      () => late.after(this.attemptHere(charges)),
      ([, result]) => late.come(result as StoreResult),
    )
  }

  async peek(charges: readonly Charge[]): Promise<StoreResult> {
    const health = this.health(charges)
    if (!health.isTrusted) return this.standIn(charges, 'peek')
    return health.call(() => this.remote.peek(charges)).catch(() => this.standIn(charges, 'peek'))
  }

  /** @throws StoreError if the store does not confirm it: then it applies only in this process */
  async settle(
    charges: readonly Charge[],
    chargedAt?: number,
    source: DecisionSource = 'store',
  ): Promise<void> {
    this.local?.settle(this.localCharges(charges), chargedAt)
    if (source !== 'store') return
    const health = this.health(charges)
    if (!health.isTrusted) throw unconfirmed('settle', health.failure)
    await this.tell('settle', health, () => this.remote.settle(charges, chargedAt))
  }

  /**
   * Also holds the slots that the store does not know, because this process admitted them without
   * it. While the store is down, this probes it: a process that holds slots may get no requests.
   * @throws if the store does not confirm it: then it applies only in this process
   */
  async renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    this.local?.renew?.(requests.map((charges) => this.localCharges(charges)))
    const first = requests[0] as readonly Charge[]
    const health = this.health(first)
    const renew = async () => this.remote.renew?.(requests)
    if (health.isTrusted) await health.call(renew)
    else health.probe(() => this.askWhetherItWorks(first.map(unpaid)).then(renew))
  }

  /** @throws StoreError if the store does not confirm it: then it applies only in this process */
  async block(keys: readonly string[], durationMs: number): Promise<void> {
    this.local?.block(keys, durationMs)
    const health = this.healthOf(keys[0] as string)
    await this.tell('block', health, () => this.remote.block(keys, durationMs))
  }

  /** @throws StoreError if the store does not confirm it: then it applies only in this process */
  async reset(keys: readonly string[]): Promise<void> {
    this.local?.reset(keys)
    const health = this.healthOf(keys[0] as string)
    await this.tell('reset', health, () => this.remote.reset(keys))
  }

  /** Whether the store would be called. */
  isTrusted(charges: readonly Charge[]): boolean {
    return this.health(charges).isTrusted
  }

  /** What this process counts by itself; undefined if it does not decide by that. */
  private get local(): Ledger<'sync'> | undefined {
    return this.failureMode.onStoreError === 'local' ? this.openLocal() : undefined
  }

  private health(charges: readonly Charge[]): Health {
    return this.healthOf((charges[0] as Charge).key)
  }

  /** In the background: charges the store for what was admitted without it. */
  private probeWith(health: Health, charges: readonly Charge[], admitted: boolean): void {
    // A slot is held by its renewal.
    const admittedCharges = charges.map((charge) => {
      return admitted && charge.slot === undefined ? charge : unpaid(charge)
    })
    health.probe(() => this.askWhetherItWorks(admittedCharges))
  }

  private askWhetherItWorks(charges: readonly Charge[]): Promise<void> {
    return this.remote.probe?.(charges) ?? this.remote.settle(charges)
  }

  private attemptOf(
    health: Health,
    charges: readonly Charge[],
    { outcomes: uncharged }: StoreResult,
    result: StoreResult,
  ): Attempt {
    const conclude = (admitted: boolean) => {
      if (admitted) this.learnt(charges, result)
      else if (result.admitted) this.giveBack(health, charges, result)
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

  /** In the background. If the store fails, the charge stays. */
  private giveBack(health: Health, charges: readonly Charge[], { at }: StoreResult): void {
    health.call(() => this.remote.settle(returned(charges), at)).catch(() => {})
  }

  /** Counts here what the store has admitted. */
  private learnt(charges: readonly Charge[], result: StoreResult): StoreResult {
    if (result.admitted) this.local?.settle(this.localCharges(charges))
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
    const { admitted, at, outcomes } = local[operation](this.localCharges(charges))
    // A synchronous ledger reuses the object that it returns.
    return { admitted, at, source: 'local', outcomes: outcomes.map((outcome) => ({ ...outcome })) }
  }

  private localCharges(charges: readonly Charge[]): readonly Charge[] {
    if (this.failureMode.localShare === 1) return charges
    return charges.map((charge, i) => {
      return { ...charge, limit: this.failureMode.localLimit(i, charge.limit) }
    })
  }

  private async tell(operation: string, health: Health, act: () => Promise<void>): Promise<void> {
    try {
      await health.call(act)
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
