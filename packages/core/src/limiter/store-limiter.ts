import { MAX_LIMIT } from '../algorithms/algorithm.ts'
import { SluiceError } from '../errors/sluice-error.ts'
import { banEvents, consumeTraces, decisionEvents } from '../events.ts'
import { isPromise, type MaybePromise, then } from '../maybe-promise.ts'
import { checkInteger, checkOneOf } from '../options/checks.ts'
import { type Duration, parseDuration } from '../options/duration.ts'
import { readOptions } from '../options/read.ts'
import { OPTIONS } from '../options/table.ts'
import { MAIN, type Scope } from '../stores/inspection/scope.ts'
import { ResilientStore } from '../stores/resilient/resilience.ts'
import { resolveStore } from '../stores/resolve.ts'
import type {
  Answer,
  Charge,
  DecisionSource,
  Ledger,
  Store,
  StoreMode,
  StoreResult,
} from '../stores/store.ts'
import { type Acquisition, toAcquisition } from './acquisition.ts'
import { checkCost, checkKey } from './arguments.ts'
import { type BanPlace, compileBan } from './ban.ts'
import { type Decision, toDecision } from './decision.ts'
import type { EventOptions } from './event-options.generated.ts'
import { compileFailureMode } from './failure-mode.ts'
import { type Activity, type HeldSlot, HeldSlots } from './held-slots.ts'
import type { KeyspaceOptions, Limiter, LimitOptions } from './limiter.ts'
import { LimiterEvents } from './limiter-events.ts'
import { SingleUseWatch } from './made-per-request.ts'
import { callOnDecision } from './on-decision.ts'
import type { StoreOptions } from './options.generated.ts'
import type { Policy } from './policy.ts'
import { keyspacesOf, PolicyLedgers, typicalLimits } from './policy-ledgers.ts'
import { noteQuotas } from './shared-quota.ts'
import { nextSlot } from './slot-number.ts'

const SOURCES: readonly DecisionSource[] = ['store', 'cache', 'local', 'allow', 'deny']

/** The source that charged a policy, and when. Without a time: now. */
export interface ChargedPolicy {
  readonly source: DecisionSource
  readonly at: number | undefined
}

/** How a limiter is used. */
export interface LimiterUse {
  /** Separates its keys from those of other limiters with the same policies. */
  readonly scope?: Scope
  /** Whether it will settle its charges. */
  readonly settles?: boolean
  /** Whether what it refuses goes on. */
  readonly dryRun?: boolean
  /** Where the limiter of a route counts bans. Default: it counts its own */
  readonly banPlace?: BanPlace | undefined
  /** Whether it is meant to share its quotas with others on the store. */
  readonly sharesQuotas?: boolean
  /** Called with the decisions of `consume` and `acquire`. */
  readonly onDecision?: EventOptions['onDecision']
}

/** The policies on a store. Adapters build on it, with their own charges. */
export class StoreLimiter<M extends StoreMode = StoreMode> implements Limiter<M> {
  readonly policies: readonly Policy[]
  readonly store: Store<M>
  readonly events: LimiterEvents
  /** Where its bans are counted, and those of its routes. */
  readonly banPlace: BanPlace
  private readonly ownsStore: boolean
  private readonly prefix: string
  /** A remote store with its deadline and failure mode. */
  private readonly resilient: ResilientStore | undefined
  private readonly ledgers: PolicyLedgers<M>
  /** Undefined if no policy has `concurrent`. */
  private readonly held: HeldSlots | undefined
  private readonly onDecision: EventOptions['onDecision']
  private watch: SingleUseWatch | undefined
  private forgetQuotas: (() => void) | undefined
  /** Reused by every call, so that a synchronous decision allocates only itself. */
  private readonly charges: Charge[]

  constructor(
    policies: readonly Policy[],
    options: StoreOptions & EventOptions<never>,
    use: LimiterUse = {},
  ) {
    const { scope = MAIN, settles = false, dryRun = false } = use
    this.policies = policies
    const { name, keySecret } = readOptions(OPTIONS.events, '', options)
    this.events = new LimiterEvents(policies, name, keySecret, dryRun)
    this.onDecision = use.onDecision
    this.store = resolveStore(options.store) as Store as Store<M>
    this.ownsStore = options.store === undefined
    const values = readOptions(OPTIONS.store, '', options)
    this.prefix = values.prefix + scope
    const [first] = policies as [Policy]
    const quota = first.space(first.typicalLimit)
    this.banPlace = use.banPlace ?? { prefix: this.prefix, quota }
    const ban = values.ban === undefined ? undefined : compileBan(values.ban, this.banPlace, dryRun)
    const failureMode = compileFailureMode(values, policies, settles)
    if (this.store.mode === 'async') {
      this.resilient = new ResilientStore(this.store as Store as Store<'async'>, failureMode)
    }
    const opened = this.resilient ?? this.store
    this.ledgers = new PolicyLedgers(
      policies,
      (quotas) => opened.open({ policies: quotas, ban }, this.prefix) as Ledger as Ledger<M>,
    )
    this.charges = this.blankCharges()
    this.held = this.slots()
    if (this.ownsStore) this.watch = SingleUseWatch.start(this.ledgers.names)
    else if (options.prefix === undefined && !use.sharesQuotas) this.forgetQuotas = this.note()
  }

  /** Whether somebody listens to decisions. */
  get isWatched(): boolean {
    return decisionEvents.hasSubscribers || banEvents.hasSubscribers
  }

  consume(key: string, options?: { cost?: number } & LimitOptions): Answer<M, Decision> {
    const cost = options?.cost
    if (this.held !== undefined)
      throw wrongMethod('consume', 'acquire', 'no policy that has concurrent')
    return this.decideAndReport(this.fill(key, cost === undefined ? 1 : checkCost(cost), options))
  }

  acquire(key: string, options?: { cost?: number } & LimitOptions): Answer<M, Acquisition<M>> {
    if (this.held === undefined)
      throw wrongMethod('acquire', 'consume', 'a policy that has concurrent')
    const cost = options?.cost === undefined ? 1 : checkCost(options.cost)
    const charges = this.fill(key, cost, options, this.blankCharges())
    charges.forEach((charge, i) => {
      if (this.policies[i]?.holdsSlots) Object.assign(charge, { cost: 1, slot: nextSlot() })
    })
    const acquisition = then<Decision, Acquisition>(this.decideAndReport(charges), (decision) =>
      toAcquisition(decision, this.store.mode, this.hold(charges, decision)),
    )
    return acquisition as Answer<M, Acquisition<M>>
  }

  /**
   * Renews the slots of a request until they are given back; undefined if it has none.
   * @param activity left out: they are renewed until they are given back or abandoned
   */
  hold(
    charges: readonly Charge[],
    { allowed, policies }: Decision,
    route?: string,
    activity?: Activity,
  ): HeldSlot | undefined {
    if (!allowed || policies.length === 0) return undefined
    const ended = (reason: 'released' | 'abandoned') => this.events.released(reason, charges, route)
    return this.held?.add(this.ledgers.of(charges), charges, ended, activity)
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
  ): Answer<M, Decision> {
    if (isTraced) {
      const isAsync = this.store.mode === 'async'
      const untraced = () => this.decide(charges, route, false)
      return this.events.consuming(untraced, isAsync, route) as Answer<M, Decision>
    }
    if (this.watch?.isOver()) this.watch = undefined
    const ledger = this.ledgers.only ?? this.ledgers.of(charges)
    const result: MaybePromise<StoreResult> = ledger.consume(charges)
    const decision =
      result instanceof Promise
        ? result.then((each) => toDecision(each, this.policies, charges))
        : toDecision(result, this.policies, charges)
    return decision as Answer<M, Decision>
  }

  peek(key: string, options?: LimitOptions): Answer<M, Decision> {
    const charges = this.fill(key, 0, options)
    const decision = then<StoreResult, Decision>(this.ledgers.of(charges).peek(charges), (result) =>
      toDecision(result, this.policies, charges),
    )
    return decision as Answer<M, Decision>
  }

  settle(
    key: string,
    delta: number,
    options?: { at?: number; source?: DecisionSource } & LimitOptions,
  ) {
    const units = checkInteger('delta', delta, -MAX_LIMIT, MAX_LIMIT)
    const { at, source } = options ?? {}
    if (source !== undefined) checkOneOf('source', source, SOURCES)
    if (at !== undefined) checkInteger('at', at, 0, Number.MAX_SAFE_INTEGER)
    const charges = this.fill(key, units, options)
    const done = this.ledgers.of(charges).settle(charges, at, source)
    return this.events.settled(done, charges, undefined) as Answer<M, void>
  }

  /**
   * Corrects the charges of a decision, each policy at its source and time.
   * @param route the route that its event names
   */
  settleCharges(
    charges: readonly Charge[],
    decision: { readonly policies: readonly ChargedPolicy[] },
    route?: string,
  ): Answer<M, void> {
    const done = this.correct(charges, decision)
    return this.events.settled(done, charges, route) as Answer<M, void>
  }

  /** Corrects charges as `settleCharges` does, without an event: for charges that no event has reported. */
  correct(
    charges: readonly Charge[],
    { policies }: { readonly policies: readonly ChargedPolicy[] },
  ): Answer<M, void> {
    const ledger = this.ledgers.of(charges)
    const pending = distinct(policies).map(({ at, source }) => {
      const own = charges.map((charge, i) =>
        policies[i]?.at === at && policies[i]?.source === source ? charge : { ...charge, cost: 0 },
      )
      return ledger.settle(own, at, source)
    })
    return all(pending) as Answer<M, void>
  }

  reset(key: string, options?: KeyspaceOptions): Answer<M, void> {
    checkKey(key)
    const reset = this.ledgers.all(options).map((each) => each.reset(key))
    return all(reset) as Answer<M, void>
  }

  block(key: string, duration: Duration, options?: KeyspaceOptions): Answer<M, void> {
    checkKey(key)
    const durationMs = parseDuration('duration', duration)
    const blocked = this.ledgers.all(options).map((each) => each.block(key, durationMs))
    return all(blocked) as Answer<M, void>
  }

  close(): void {
    this.resilient?.close()
    this.watch?.end()
    this.forgetQuotas?.()
    this.forgetQuotas = undefined
    this.held?.close()
    if (this.ownsStore) this.store.close()
  }

  /** Decides an application's own call, and reports it. An adapter reports what it makes of the decision. */
  private decideAndReport(charges: readonly Charge[]): Answer<M, Decision> {
    const { events, onDecision } = this
    const { isWatched } = this
    if (onDecision === undefined && !isWatched) return this.decide(charges)
    const started = performance.now()
    const decided = then<Decision, Decision>(this.decide(charges), (decision) => {
      if (isWatched) events.decided(decision, charges, undefined, performance.now() - started)
      callOnDecision(onDecision, decision, undefined, (charges[0] as Charge).key)
      return decision
    })
    return decided as Answer<M, Decision>
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

  private note(): () => void {
    const { policies, prefix } = this
    const quotas = policies.map((policy) => `${prefix}:${policy.space(policy.typicalLimit)}`)
    const names = policies.map(({ name }) => name)
    return noteQuotas(this.store as Store, quotas, names)
  }

  /** @throws SluiceError if the store can't renew them */
  private slots(): HeldSlots | undefined {
    const policies = this.policies.filter(({ holdsSlots }) => holdsSlots)
    if (policies.length === 0) return undefined
    const quotas = keyspacesOf(this.policies, typicalLimits(this.policies))
    if (this.store.open({ policies: quotas }, this.prefix).renew === undefined) {
      throw new SluiceError({
        code: 'SLUICE_OPTION_CONFLICT',
        option: 'store',
        expected: 'a store whose ledgers have renew, for a policy with concurrent',
        received: this.store,
        fix: 'Implement renew in the store, or use memoryStore() or Redis.',
      })
    }
    return new HeldSlots(Math.min(...policies.map(({ windowMs }) => windowMs)))
  }
}

/** Awaits those that are promises. */
function all(pending: readonly unknown[]): MaybePromise<void> {
  return pending.some(isPromise) ? Promise.all(pending).then(() => undefined) : undefined
}

/** The first policy of each time and source: one, unless they were decided separately. */
function distinct(policies: readonly ChargedPolicy[]): ChargedPolicy[] {
  return policies.filter(({ at, source }, i) => {
    return i === policies.findIndex((other) => other.at === at && other.source === source)
  })
}

/** @param wanted what the limiter would have to have */
function wrongMethod(method: string, other: string, wanted: string): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option: `${method}()`,
    expected: `a limiter with ${wanted}`,
    received: undefined,
    fix: `Call ${other}() instead: only the slots of acquire() are given back.`,
  })
}
