import type { Outcome } from '../algorithms/algorithm.ts'
import { WaitError } from '../errors/wait-error.ts'
import { banEvents, consumeTraces, decisionEvents } from '../events.ts'
import { all, type MaybePromise, then } from '../maybe-promise.ts'
import type { NetworkBlocks } from '../stores/networks/network-blocks.ts'
import { fullOf } from '../stores/rules/decide-all.ts'
import { undone } from '../stores/rules/slots.ts'
import type { Charge, Origin, Raise, Store, StoreMode, StoreResult } from '../stores/store.ts'
import type { BannedQuota } from './ban.ts'
import { blockedOutcome, type Decision, toDecision } from './decision.ts'
import type { EventOptions } from './event-options.generated.ts'
import { HeldSlot, type HeldSlots } from './held-slots.ts'
import type { ClientOptions, WaitOptions } from './limiter.ts'
import { callOnDecision, type LimiterEvents } from './limiter-events.ts'
import type { SingleUse } from './made-per-request.ts'
import type { LimiterParts } from './open-limiter.ts'
import type { Policy } from './policy.ts'
import type { PolicyLedgers } from './policy-ledgers.ts'
import type { WaitQueues } from './wait-queues.ts'

/** What charges are corrected by: when each was made, who made it, and what remained after it. */
interface Charged {
  readonly policies: readonly Partial<Origin & Pick<Outcome, 'remaining'>>[]
}

/** Decides charges on a store, and corrects them. What decides by keys, and each adapter, makes its own charges. */
export class ChargeLimiter {
  readonly policies: readonly Policy[]
  readonly store: Store
  readonly events: LimiterEvents
  readonly bannedQuota: BannedQuota
  /** The networks that are blocked under the prefix, whatever the scope. */
  readonly networks: NetworkBlocks
  readonly maxWaiting: number
  protected readonly ledgers: PolicyLedgers<StoreMode>
  /** Undefined if no policy has `concurrent` or `reserve`. */
  protected readonly held: HeldSlots | undefined
  protected readonly onDecision: EventOptions['onDecision']
  private readonly releaseParts: () => void
  private singleUse: SingleUse | undefined
  /** Reused by every decision of a synchronous store, so that it allocates only itself. */
  private readonly request: [readonly Charge[]] | undefined
  /** Loaded with the first call that waits. */
  private waits: WaitQueues | undefined
  private loadingWaits: Promise<WaitQueues> | undefined
  private isClosed = false

  constructor(parts: LimiterParts) {
    this.policies = parts.policies
    this.store = parts.store
    this.events = parts.events
    this.bannedQuota = parts.bannedQuota
    this.networks = parts.networks
    this.maxWaiting = parts.maxWaiting
    this.ledgers = parts.ledgers
    this.held = parts.held
    this.onDecision = parts.onDecision
    this.releaseParts = parts.release
    this.singleUse = parts.singleUse
    this.request = parts.store.mode === 'sync' ? [[]] : undefined
  }

  /** Whether somebody listens to decisions, or to what they cause. */
  get isWatched(): boolean {
    const { thresholds } = this.events
    if (thresholds?.isWatched) return true
    return decisionEvents.hasSubscribers || banEvents.hasSubscribers
  }

  /**
   * Decides charges in the order of the policies, which may differ in key, quota and cost. Leave them
   * unchanged until it has answered.
   * @param route the route that its trace names
   */
  decide(
    charges: readonly Charge[],
    route?: string,
    isTraced: boolean = consumeTraces.hasSubscribers,
  ): MaybePromise<Decision> {
    if (isTraced) {
      const isAsync = this.store.mode === 'async'
      const untraced = () => this.decide(charges, route, false)
      return this.events.consuming(untraced, isAsync, route)
    }
    if (this.singleUse?.isRuledOut()) this.singleUse = undefined
    const { networks } = this
    if (networks.dueAt !== Infinity && performance.now() >= networks.dueAt) networks.refresh()
    const ledger = this.ledgers.only ?? this.ledgers.of(charges)
    const { request = [charges] } = this
    request[0] = charges
    const results = ledger.decide(request)
    return results instanceof Promise
      ? results.then(([result]) => toDecision(result as StoreResult, this.policies, charges))
      : toDecision(results[0] as StoreResult, this.policies, charges)
  }

  /** The decision that the charges would get now. */
  preview(charges: readonly Charge[]): MaybePromise<Decision> {
    return then(this.ledgers.of(charges).decide([charges], true), ([result]) =>
      toDecision(result as StoreResult, this.policies, charges),
    )
  }

  /**
   * Renews the slots and reservations of a request until they are given back; undefined if it has none.
   * @param ended called once, when they are no longer renewed
   * @param activity left out: they are renewed until they are given back or abandoned
   */
  hold(
    charges: readonly Charge[],
    { allowed, policies }: Decision,
    ended: HeldSlot['ended'],
    activity?: HeldSlot['activity'],
  ): HeldSlot | undefined {
    const { held } = this
    if (held === undefined || !allowed || policies.length === 0) return undefined
    return new HeldSlot(held, this.ledgers.of(charges), charges, ended, activity)
  }

  /**
   * Corrects the charges of a decision, each policy at its source and time. Without a time: now.
   * @param route the route that its event names
   */
  settleCharges(charges: readonly Charge[], decision: Charged, route?: string): MaybePromise<void> {
    const raised = this.events.raised(charges, decision.policies, route)
    return this.events.settled(this.correct(charges, decision, raised), charges, route)
  }

  /** Corrects charges as `settleCharges` does, without an event: for charges that no event has reported. */
  correct(
    charges: readonly Charge[],
    { policies }: Charged,
    raised?: (raise: Raise) => void,
  ): MaybePromise<void> {
    const ledger = this.ledgers.of(charges)
    const corrected = policies.map((policy, i) => {
      const isSame = ({ at, source }: Partial<Origin>) =>
        at === policy.at && source === policy.source
      // The first policy of a time and a source corrects all of them: mostly they have the same.
      if (policies.findIndex(isSame) < i) return undefined
      const own = charges.map((charge, k) =>
        isSame(policies[k] as Partial<Origin>)
          ? { ...charge, remaining: policies[k]?.remaining }
          : { ...charge, cost: 0, reserved: undefined },
      )
      const { at: chargedAt, source } = policy
      return ledger.change({ kind: 'settle', charges: own, chargedAt, source }, raised)
    })
    return this.waking((charges[0] as Charge).key, all(corrected))
  }

  /**
   * The decision about a client in a blocked network, without a call of the store.
   * @param blockedMs until its block ends, ms
   */
  refuseNetwork(charges: readonly Charge[], blockedMs: number): Decision {
    const { networks, policies, store } = this
    if (networks.dueAt !== Infinity && performance.now() >= networks.dueAt) networks.refresh()
    const outcome = blockedOutcome(blockedMs)
    const outcomes = policies.map(() => outcome)
    const source = store.mode === 'sync' ? 'store' : 'cache'
    return toDecision({ admitted: false, at: networks.now(), source, outcomes }, policies, charges)
  }

  /** Makes the charges as soon as they are admitted. */
  protected async waitFor(
    charges: readonly Charge[],
    options: WaitOptions & ClientOptions,
  ): Promise<Decision> {
    if (this.isClosed) throw new WaitError('SLUICE_WAIT_CLOSED', 0)
    this.loadingWaits ??= this.loadWaits()
    return (await this.loadingWaits).wait(charges, options)
  }

  private async loadWaits(): Promise<WaitQueues> {
    const { WaitQueues } = await import('./wait-queues.ts')
    const waits = new WaitQueues(
      {
        ask: (charges, address) =>
          this.decideOwn(charges, this.blockedMs((charges[0] as Charge).key, address)),
        undo: (charges, decision) => this.undo(charges, decision),
        ended: (decision, charges, durationMs) => this.report(decision, charges, durationMs),
        overLimit: (charges) => this.overLimit(charges),
      },
      this.maxWaiting,
    )
    if (this.held !== undefined) this.held.whenFreed = (key) => waits.wake(key)
    this.waits = waits
    return waits
  }

  /** What the store says about charges that are larger than their limits: a client may have a larger one. */
  private overLimit(charges: readonly Charge[]): MaybePromise<Decision | undefined> {
    if (!charges.some(({ limit, cost }) => cost > fullOf(limit, Date.now()))) return undefined
    return this.preview(charges)
  }

  /** Gives back what an admission has charged. */
  protected undo(charges: readonly Charge[], decision: Decision): MaybePromise<void> {
    return this.correct(undone(charges), decision)
  }

  /** What a key waits for may have changed: the first that waits asks again. */
  protected wake(key: string): void {
    this.waits?.wake(key)
  }

  /** When the operation is done, the queue of the key asks again. */
  protected waking<T>(key: string, done: MaybePromise<T>): MaybePromise<T> {
    const { waits } = this
    if (waits === undefined) return done
    return then(done, (value) => {
      waits.wake(key)
      return value
    })
  }

  close(): void {
    this.isClosed = true
    void this.loadingWaits?.then((waits) => waits.close())
    this.singleUse?.end()
    this.releaseParts()
  }

  /** The time for which the client of an application's own call is blocked by its address, ms; 0 if it is not. */
  protected blockedMs(key: string, address: string | undefined): number {
    if (this.networks.size === 0) return 0
    return address === undefined
      ? this.networks.blockedKeyMs(key)
      : this.networks.blockedMs(address)
  }

  /** What the mode of the store promises. */
  protected asPromised<T>(value: T): MaybePromise<T> {
    return this.store.mode === 'sync' ? value : Promise.resolve(value)
  }

  /** @param blockedMs until the block of the client's network ends, ms; 0: there is none */
  protected decideOwn(charges: readonly Charge[], blockedMs: number): MaybePromise<Decision> {
    return blockedMs === 0
      ? this.decide(charges)
      : this.asPromised(this.refuseNetwork(charges, blockedMs))
  }

  protected report(decision: Decision, charges: readonly Charge[], durationMs: number): void {
    if (this.isWatched) this.events.decided(decision, charges, undefined, durationMs)
    callOnDecision(this.onDecision, decision, undefined, (charges[0] as Charge).key)
  }
}
