import type { Quota } from '../../algorithms/algorithm.ts'
import { SluiceError } from '../../errors.ts'
import type { Charge, Ledger, Ruling } from '../store.ts'
import type { Health } from './health.ts'
import { Refusals } from './refusals.ts'

/** What decides while the store can't. */
export type OnStoreError = 'local' | 'allow' | 'deny'

export interface Stance {
  /** The longest that a request waits for the store, ms, 1 … 60,000. */
  readonly deadlineMs: number
  readonly onStoreError: OnStoreError
  /** Whether refusals are remembered until they end. */
  readonly refusalCache: boolean
  /** The share of the limits that this process admits alone, above 0, up to 1. */
  readonly localShare: number
  /** That share of a quota of the policy with this number, from 0. */
  localQuota(policy: number, quota: Quota): Quota
}

/**
 * Asks a remote ledger and decides in its stead where it can't: it is down, overloaded or late.
 * Beside the remote states it counts what this process has admitted, to go on from there. A call
 * that is late is not made again: what it has charged stays charged.
 */
export class ResilientLedger implements Ledger<'async'> {
  private readonly remote: Ledger<'async'>
  private readonly local: Ledger<'sync'>
  private readonly healthOf: (key: string) => Health
  private readonly stance: Stance
  private readonly refusals: Refusals

  /**
   * @param healthOf the health of the part of the store that a key is in
   * @param clock see `Store.clock`
   */
  constructor(
    remote: Ledger<'async'>,
    local: Ledger<'sync'>,
    healthOf: (key: string) => Health,
    stance: Stance,
    clock: (() => number) | undefined,
  ) {
    this.remote = remote
    this.local = local
    this.healthOf = healthOf
    this.stance = stance
    this.refusals = new Refusals(clock ?? (() => performance.now()))
  }

  consume(charges: readonly Charge[]): Promise<Ruling> {
    const known = this.refusals.find(charges)
    if (known !== undefined) return Promise.resolve(known)
    const kept = copy(charges)
    const health = this.healthOf((kept[0] as Charge).key)
    if (health.isTrusted) return this.ask(kept, health)
    const ruling = this.standIn(kept)
    // What was admitted without the store is true, so it is what a probe tells.
    health.probe(() => this.remote.settle(ruling.admitted ? kept : unpaid(kept)))
    return Promise.resolve(ruling)
  }

  async peek(charges: readonly Charge[]): Promise<Ruling> {
    const kept = copy(charges)
    const health = this.healthOf((kept[0] as Charge).key)
    if (!health.isTrusted) return this.standIn(kept, 'peek')
    return health.call(
      () => this.remote.peek(kept),
      (ruling) => ruling,
      () => this.standIn(kept, 'peek'),
    )
  }

  /** @throws SluiceError if the store can't be told */
  async settle(
    charges: readonly Charge[],
    chargedAt?: number,
    source: Ruling['source'] = 'store',
  ): Promise<void> {
    const kept = copy(charges)
    this.refusals.clear()
    this.local.settle(this.localCharges(kept), chargedAt)
    if (source !== 'store') return
    const health = this.healthOf((kept[0] as Charge).key)
    if (!health.isTrusted) throw untold('settle', 'it has failed before')
    await this.tell('settle', health, () => this.remote.settle(kept, chargedAt))
  }

  /** @throws SluiceError if the store can't be told: then it holds in this process alone */
  async block(keys: readonly string[], durationMs: number): Promise<void> {
    this.refusals.clear()
    this.local.block(keys, durationMs)
    const health = this.healthOf(keys[0] as string)
    await this.tell('block', health, () => this.remote.block(keys, durationMs))
  }

  /** @throws SluiceError if the store can't be told: then it holds in this process alone */
  async reset(keys: readonly string[]): Promise<void> {
    this.refusals.clear()
    this.local.reset(keys)
    const health = this.healthOf(keys[0] as string)
    await this.tell('reset', health, () => this.remote.reset(keys))
  }

  private ask(charges: readonly Charge[], health: Health): Promise<Ruling> {
    const note = this.stance.refusalCache ? this.refusals.listen() : undefined
    return health.call(
      () => this.remote.consume(charges),
      (ruling) => {
        note?.(charges, ruling)
        if (ruling.admitted) this.learn(charges)
        return ruling
      },
      () => this.standIn(charges),
    )
  }

  /** Counts here what the store has admitted. */
  private learn(charges: readonly Charge[]): void {
    if (this.stance.onStoreError === 'local') this.local.settle(this.localCharges(charges))
  }

  private standIn(charges: readonly Charge[], operation: 'consume' | 'peek' = 'consume'): Ruling {
    const { onStoreError } = this.stance
    if (onStoreError !== 'local') {
      const admitted = onStoreError === 'allow'
      return { admitted, at: Date.now(), source: onStoreError, outcomes: [] }
    }
    const { admitted, at, outcomes } = this.local[operation](this.localCharges(charges))
    // What a synchronous ledger returns is its own.
    return { admitted, at, source: 'local', outcomes: outcomes.map((outcome) => ({ ...outcome })) }
  }

  private localCharges(charges: readonly Charge[]): readonly Charge[] {
    if (this.stance.localShare === 1) return charges
    return charges.map(({ key, quota, cost }, i) => {
      return { key, quota: this.stance.localQuota(i, quota), cost }
    })
  }

  private tell(operation: string, health: Health, act: () => Promise<void>): Promise<void> {
    return health.call(
      act,
      () => undefined,
      (error) => {
        throw untold(operation, error)
      },
    )
  }
}

function copy(charges: readonly Charge[]): Charge[] {
  return charges.map(({ key, quota, cost }) => ({ key, quota, cost }))
}

function unpaid(charges: readonly Charge[]): Charge[] {
  return charges.map(({ key, quota }) => ({ key, quota, cost: 0 }))
}

function untold(operation: string, reason: unknown): SluiceError {
  return new SluiceError({
    code: 'SLUICE_STORE_UNAVAILABLE',
    option: operation,
    expected: 'the store to take it',
    received: reason instanceof Error ? reason.message : reason,
    fix: 'It holds in this process alone: do it again once the store is back.',
  })
}
