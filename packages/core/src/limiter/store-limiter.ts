import { type CompiledLimit, mostSettled } from '../algorithms/algorithm.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import { warnOnce } from '../errors/warning.ts'
import { banEvents, consumeTraces, decisionEvents } from '../events.ts'
import { parseCidr } from '../key/cidr.ts'
import { isIPv4 } from '../key/ip.ts'
import { isPromise, type MaybePromise, then } from '../maybe-promise.ts'
import { checkInteger, checkOneOf } from '../options/checks.ts'
import { type Duration, parseDuration } from '../options/duration.ts'
import { readOptions } from '../options/read.ts'
import { OPTIONS } from '../options/table.ts'
import { MAIN, type Scope } from '../stores/inspection/scope.ts'
import { type NetworkBlocks, networkBlocksOf } from '../stores/networks/network-blocks.ts'
import { checkNetwork } from '../stores/networks/network-text.ts'
import { resilientStore } from '../stores/resilient/resilience.ts'
import { resolveStore } from '../stores/resolve.ts'
import { fullOf } from '../stores/rules/decide-all.ts'
import { undone } from '../stores/rules/slots.ts'
import type {
  Charge,
  DecisionSource,
  Ledger,
  Origin,
  Raise,
  Store,
  StoreMode,
} from '../stores/store.ts'
import { type Acquisition, toAcquisition } from './acquisition.ts'
import { checkCost, checkKey } from './arguments.ts'
import { type BannedQuota, compileBan } from './ban.ts'
import { blockedOutcome, type Decision, toDecision } from './decision.ts'
import type { EventOptions } from './event-options.generated.ts'
import { HeldSlot, HeldSlots, nextSlot } from './held-slots.ts'
import type {
  BlockOptions,
  ClientOptions,
  GrantOptions,
  Limiter,
  LimitOptions,
  OverrideOptions,
  WaitOptions,
} from './limiter.ts'
import { callOnDecision, LimiterEvents } from './limiter-events.ts'
import { SingleUse } from './made-per-request.ts'
import type { StoreOptions } from './options.generated.ts'
import { addGrant, setOverride } from './own-limits.ts'
import type { Policy } from './policy.ts'
import { PolicyLedgers } from './policy-ledgers.ts'
import { registerQuotas } from './shared-quota.ts'
import { Thresholds } from './thresholds.ts'
import { type Turn, toTurn } from './turn.ts'
import type { WaitQueues } from './wait-queues.ts'

const SOURCES: readonly DecisionSource[] = ['store', 'cache', 'local', 'allow', 'deny']

/** The policies on a store. Adapters build on it, with their own charges. */
export class StoreLimiter implements Limiter {
  readonly policies: readonly Policy[]
  readonly store: Store
  readonly events: LimiterEvents
  readonly bannedQuota: BannedQuota
  /** The networks that are blocked under the prefix, whatever the scope. */
  readonly networks: NetworkBlocks
  private readonly prefix: string
  private readonly ownsStore: boolean
  /** A remote store with its deadline and failure mode. */
  private readonly resilient: ReturnType<typeof resilientStore> | undefined
  private readonly ledgers: PolicyLedgers<StoreMode>
  /** Undefined if no policy has `concurrent` or `reserve`. */
  private readonly held: HeldSlots | undefined
  private readonly onDecision: EventOptions['onDecision']
  readonly maxWaiting: number
  /** Loaded with the first call that waits. */
  private waits: WaitQueues | undefined
  private loadingWaits: Promise<WaitQueues> | undefined
  private singleUse: SingleUse | undefined
  private readonly unregisterQuotas: (() => void) | undefined
  /** Reused by every call, so that a synchronous decision allocates only itself. */
  private readonly charges: Charge[]

  /**
   * @param use.scope separates its keys from those of other limiters with the same policies
   * @param use.settles whether it will settle its charges
   * @param use.dryRun whether what it refuses goes on
   * @param use.bannedQuota for a route: the quota of its limiter. Default: its own
   * @param use.sharesQuotas whether it is meant to share its quotas with others on the store
   * @param use.onDecision called with the decisions of `consume` and `acquire`
   */
  constructor(
    policies: readonly Policy[],
    options: StoreOptions & EventOptions<never>,
    use: {
      readonly scope?: Scope
      readonly settles?: boolean
      readonly dryRun?: boolean
      readonly bannedQuota?: BannedQuota | undefined
      readonly sharesQuotas?: boolean
      readonly onDecision?: EventOptions['onDecision']
    } = {},
  ) {
    const { name, keySecret } = readOptions(OPTIONS.events, '', options)
    const values = readOptions(OPTIONS.store, '', options)
    const { deadline, onStoreError, refusalCache, localShare } = values
    const { scope = MAIN, settles = false, dryRun = false } = use
    const prefix = values.prefix + scope
    this.prefix = prefix
    this.maxWaiting = values.maxWaiting
    const quota = (policies[0] as Policy).space()
    this.policies = policies
    const thresholds = policies.some(({ alertAt }) => alertAt !== undefined)
      ? new Thresholds(policies, name, localShare, options.onThreshold)
      : undefined
    this.events = new LimiterEvents(policies, name, keySecret, dryRun, thresholds)
    this.onDecision = use.onDecision
    const store = resolveStore(options.store)
    this.store = store
    this.ownsStore = options.store === undefined
    this.networks = networkBlocksOf(store, values.prefix)
    this.bannedQuota = use.bannedQuota ?? { prefix, quota }
    const ban =
      values.ban === undefined ? undefined : compileBan(values.ban, this.bannedQuota, dryRun)
    if (!this.ownsStore) {
      const isAware = options.prefix !== undefined || use.sharesQuotas === true
      this.unregisterQuotas = registerQuotas(store, prefix, policies, isAware)
    }
    if (store.mode === 'async') {
      this.resilient = resilientStore(store as Store<'async'>, {
        deadlineMs: deadline,
        onStoreError,
        refusalCache,
        settles,
        localShare,
        localLimit: (policy, limit) => (policies[policy] as Policy).localShareOf(limit, localShare),
      })
    }
    const opened = this.resilient ?? store
    this.ledgers = new PolicyLedgers(
      policies,
      (keyspaces): Ledger => opened.open({ policies: keyspaces, ban }, prefix),
    )
    this.charges = this.blankCharges()
    const holding = policies.filter(({ holdMs }) => holdMs !== undefined)
    if (holding.length > 0) this.held = new HeldSlots(holding, store, prefix)
    if (this.ownsStore) {
      const options = policies.map((each) => `${each.space()} ${each.terms}`)
      this.singleUse = SingleUse.start(`${options}`)
    }
  }

  /** Whether somebody listens to decisions, or to what they cause. */
  get isWatched(): boolean {
    const { thresholds } = this.events
    if (thresholds?.isWatched) return true
    return decisionEvents.hasSubscribers || banEvents.hasSubscribers
  }

  consume(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): MaybePromise<Decision> {
    const cost = options?.cost
    if (this.held !== undefined)
      throw wrongMethod('consume', 'acquire', 'no policy that has concurrent or reserve')
    const charges = this.fill(key, cost === undefined ? 1 : checkCost(cost), options)
    return this.decideAndReport(charges, options?.address)
  }

  async wait(
    key: string,
    options: { cost?: number } & WaitOptions & ClientOptions & LimitOptions = {},
  ): Promise<Decision> {
    if (this.held !== undefined)
      throw wrongMethod('wait', 'acquire', 'no policy that has concurrent or reserve')
    const cost = options.cost === undefined ? 1 : checkCost(options.cost)
    return this.waitFor(this.fill(key, cost, options, this.blankCharges()), cost, options)
  }

  takeTurn(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): MaybePromise<Turn> {
    if (this.held !== undefined)
      throw wrongMethod('takeTurn', 'acquire', 'no policy that has concurrent or reserve')
    if (!this.policies.some(({ algorithm }) => algorithm.options.maxDelay !== undefined))
      throw withoutTurns(this.policies[0] as Policy)
    const cost = options?.cost === undefined ? 1 : checkCost(options.cost)
    const charges = this.fill(key, cost, options, this.blankCharges())
    return then(this.decideAndReport(charges, options?.address), (decision) =>
      toTurn(decision, this.store.mode, () => this.settleCharges(undone(charges), decision)),
    )
  }

  acquire(
    key: string,
    options: { cost?: number; maxWait: Duration } & WaitOptions & ClientOptions & LimitOptions,
  ): Promise<Acquisition>
  acquire(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): MaybePromise<Acquisition>
  acquire(
    key: string,
    options?: { cost?: number } & WaitOptions & ClientOptions & LimitOptions,
  ): MaybePromise<Acquisition> {
    if (this.held === undefined)
      throw wrongMethod('acquire', 'consume', 'a policy that has concurrent or reserve')
    const cost = options?.cost === undefined ? 1 : checkCost(options.cost)
    const charges = this.fill(key, cost, options, this.blankCharges())
    charges.forEach((charge, i) => {
      const { holdsSlots, reserves } = this.policies[i] as Policy
      if (holdsSlots) Object.assign(charge, { cost: 1, slot: nextSlot() })
      if (reserves && cost > 0) charge.slot = nextSlot()
    })
    const decided =
      options?.maxWait === undefined
        ? this.decideAndReport(charges, options?.address)
        : this.waitFor(charges, cost, options)
    return then(decided, (decision) => {
      const held = this.hold(charges, decision, (reason) =>
        this.events.released(reason, charges, undefined),
      )
      return toAcquisition(decision, this.store.mode, held, (actual = cost) =>
        this.settleAcquired(charges, decision, cost, checkCost(actual)),
      )
    })
  }

  /** Makes the charges as soon as they are admitted. */
  protected async waitFor(
    charges: readonly Charge[],
    cost: number,
    options: WaitOptions & ClientOptions,
  ): Promise<Decision> {
    this.loadingWaits ??= this.loadWaits()
    return (await this.loadingWaits).wait(charges, cost, options)
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
    return then(this.ledgers.of(charges).peek(charges), (result) =>
      toDecision(result, this.policies, charges),
    )
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
  private waking<T>(key: string, done: MaybePromise<T>): MaybePromise<T> {
    const { waits } = this
    if (waits === undefined) return done
    return then(done, (value) => {
      waits.wake(key)
      return value
    })
  }

  /**
   * Corrects the charges of an acquisition, and ends its reservations. Slots are left as they are.
   * @param cost the estimate, units
   * @param actual what it has really cost, units
   */
  private settleAcquired(
    charges: readonly Charge[],
    decision: Decision,
    cost: number,
    actual: number,
  ): MaybePromise<void> {
    const delta = actual - cost
    if (delta === 0 && !this.policies.some(({ reserves }) => reserves)) return undefined
    const corrected = charges.map((charge, i) => {
      const { holdsSlots, reserves } = this.policies[i] as Policy
      if (holdsSlots) return { ...charge, cost: 0, slot: undefined }
      return { ...charge, cost: delta, reserved: reserves && cost > 0 ? cost : undefined }
    })
    // What it costs less is given back to the time of the charge; what it costs more is charged now.
    const { policies } = decision
    const origins = delta < 0 ? policies : policies.map(({ source }) => ({ source }))
    return this.settleCharges(corrected, { policies: origins })
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
    const result = ledger.consume(charges)
    return result instanceof Promise
      ? result.then((each) => toDecision(each, this.policies, charges))
      : toDecision(result, this.policies, charges)
  }

  peek(key: string, options?: ClientOptions & LimitOptions): MaybePromise<Decision> {
    const charges = this.fill(key, 0, options)
    const blockedMs = this.blockedMs(key, options?.address)
    if (blockedMs > 0) return this.asPromised(this.refuseNetwork(charges, blockedMs))
    return then(this.ledgers.of(charges).peek(charges), (result) =>
      toDecision(result, this.policies, charges),
    )
  }

  settle(
    key: string,
    delta: number,
    options?: { at?: number; source?: DecisionSource } & LimitOptions,
  ) {
    const most = mostSettled(this.policies.map(({ algorithm }) => algorithm))
    const units = checkInteger('delta', delta, -most, most)
    const { at, source } = options ?? {}
    if (source !== undefined) checkOneOf('source', source, SOURCES)
    if (at !== undefined) checkInteger('at', at, 0, Number.MAX_SAFE_INTEGER)
    const charges = this.fill(key, units, options)
    const raised = this.events.raised(
      charges,
      this.policies.map(() => ({ source })),
      undefined,
    )
    const settled = this.ledgers.of(charges).settle(charges, at, source, raised)
    return this.events.settled(this.waking(key, settled), charges, undefined)
  }

  /**
   * Corrects the charges of a decision, each policy at its source and time. Without a time: now.
   * @param route the route that its event names
   */
  settleCharges(
    charges: readonly Charge[],
    decision: { readonly policies: readonly Partial<Origin>[] },
    route?: string,
  ): MaybePromise<void> {
    const raised = this.events.raised(charges, decision.policies, route)
    return this.events.settled(this.correct(charges, decision, raised), charges, route)
  }

  /** Corrects charges as `settleCharges` does, without an event: for charges that no event has reported. */
  correct(
    charges: readonly Charge[],
    { policies }: { readonly policies: readonly Partial<Origin>[] },
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
          ? charge
          : { ...charge, cost: 0, reserved: undefined },
      )
      return ledger.settle(own, policy.at, policy.source, raised)
    })
    return this.waking((charges[0] as Charge).key, all(corrected))
  }

  reset(key: string, options?: BlockOptions): MaybePromise<void> {
    checkKey(key)
    if (options?.network) return this.networks.unblock(checkNetwork(key))
    return this.waking(key, all(this.ledgers.all(options).map((each) => each.reset(key))))
  }

  override(key: string, override: OverrideOptions | null): MaybePromise<void> {
    checkKey(key)
    return this.waking(key, all(setOverride(this.withOwnLimits(), key, override)))
  }

  grant(key: string, units: number, options?: GrantOptions): MaybePromise<boolean> {
    checkKey(key)
    return this.waking(key, addGrant(this.withOwnLimits(), key, units, options))
  }

  block(key: string, duration: Duration, options?: BlockOptions): MaybePromise<void> {
    checkKey(key)
    const durationMs = parseDuration('duration', duration)
    if (options?.network) return this.networks.block(checkNetwork(key), durationMs)
    const range = key.includes('/') ? parseCidr(key) : undefined
    // Keys of IPv6 are networks.
    if (range !== undefined && isIPv4(range.network)) warnOfKey()
    return all(this.ledgers.all(options).map((each) => each.block(key, durationMs)))
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

  close(): void {
    void this.loadingWaits?.then((waits) => waits.close())
    this.loadingWaits = undefined
    this.resilient?.close()
    this.singleUse?.end()
    this.unregisterQuotas?.()
    this.held?.close()
    if (this.ownsStore) this.store.close()
  }

  /** The time for which the client of an application's own call is blocked by its address, ms; 0 if it is not. */
  private blockedMs(key: string, address: string | undefined): number {
    if (this.networks.size === 0) return 0
    return address === undefined
      ? this.networks.blockedKeyMs(key)
      : this.networks.blockedMs(address)
  }

  /** What the mode of the store promises. */
  private asPromised<T>(value: T): MaybePromise<T> {
    return this.store.mode === 'sync' ? value : Promise.resolve(value)
  }

  /** Decides an application's own call, and reports it. An adapter reports what it makes of the decision. */
  private decideAndReport(
    charges: readonly Charge[],
    address: string | undefined,
  ): MaybePromise<Decision> {
    const blockedMs = this.blockedMs((charges[0] as Charge).key, address)
    if (this.onDecision === undefined && !this.isWatched && blockedMs === 0)
      return this.decide(charges)
    const started = performance.now()
    return then(this.decideOwn(charges, blockedMs), (decision) => {
      this.report(decision, charges, performance.now() - started)
      return decision
    })
  }

  /** @param blockedMs until the block of the client's network ends, ms; 0: there is none */
  private decideOwn(charges: readonly Charge[], blockedMs: number): MaybePromise<Decision> {
    return blockedMs === 0
      ? this.decide(charges)
      : this.asPromised(this.refuseNetwork(charges, blockedMs))
  }

  private report(decision: Decision, charges: readonly Charge[], durationMs: number): void {
    if (this.isWatched) this.events.decided(decision, charges, undefined, durationMs)
    callOnDecision(this.onDecision, decision, undefined, (charges[0] as Charge).key)
  }

  private withOwnLimits() {
    const { policies, store, prefix } = this
    return {
      policies,
      open: () => store.open({ policies: policies.map((each) => each.keyspace()) }, prefix),
      ledgerOf: (place: number, limit: CompiledLimit) => {
        const charges = policies.map((policy, i) => {
          return { key: '', cost: 0, limit: i === place ? limit : policy.anyLimit() }
        })
        return this.ledgers.of(charges)
      },
      clock: store.clock ?? Date.now,
    }
  }

  private fill(
    key: string,
    cost: number,
    given: LimitOptions | undefined,
    // When a remote store answers, another call may have reused these.
    charges = this.store.mode === 'sync' ? this.charges : this.blankCharges(),
  ): readonly Charge[] {
    checkKey(key)
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const policy = this.policies[i] as Policy
      charge.key = key
      charge.limit =
        policy.compiledLimit ?? policy.limitFor(given?.limit, given?.anchor, given?.window)
      charge.cost = cost
    }
    return charges
  }

  private blankCharges(): Charge[] {
    return this.policies.map(() => ({ key: '', limit: undefined as never, cost: 0 }))
  }
}

function warnOfKey(): void {
  warnOnce(
    'SLUICE_KEY_KIND',
    'block was called with a key that looks like a network of addresses. It blocks the one client with ' +
      'this key. To block the network, add the option { network: true }.',
  )
}

/** Awaits those that are promises. */
function all(pending: readonly unknown[]): MaybePromise<void> {
  return pending.some(isPromise) ? Promise.all(pending).then(() => undefined) : undefined
}

function withoutTurns({ algorithm }: Policy): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option: 'takeTurn()',
    expected: "a policy with algorithm: 'leaky-bucket'",
    said: algorithm.name,
    fix: 'Call wait() instead, which works with every algorithm: only a leaky bucket knows its turns in advance.',
  })
}

/** @param wanted what the limiter would have to have */
function wrongMethod(method: string, other: string, wanted: string): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option: `${method}()`,
    expected: `a limiter with ${wanted}`,
    received: undefined,
    fix: `Call ${other}() instead: only what acquire() takes is given back.`,
  })
}
