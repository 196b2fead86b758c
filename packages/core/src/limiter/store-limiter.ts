import { mostSettled } from '../algorithms/algorithm.ts'
import { ending } from '../algorithms/held/claim.ts'
import { conflict } from '../errors/conflict.ts'
import type { SluiceError } from '../errors/sluice-error.ts'
import { warnOnce } from '../errors/warning.ts'
import { parseCidr } from '../key/cidr.ts'
import { isIPv4 } from '../key/ip.ts'
import { all, andThen, type MaybePromise } from '../maybe-promise.ts'
import { checkInteger, checkOneOf } from '../options/checks.ts'
import { type Duration, parseDuration } from '../options/duration.ts'
import { checkNetworks } from '../stores/networks/network-text.ts'
import { madeOf, placed, undone } from '../stores/rules/slots.ts'
import type { Change, Charge, DecisionSource } from '../stores/store.ts'
import { type Acquisition, toAcquisition } from './acquisition.ts'
import { checkCost, checkKey, checkTaken, TAKEN } from './arguments.ts'
import { ChargeLimiter } from './charge-limiter.ts'
import { blockedDecision, type Decision } from './decision.ts'
import { limitOfClient } from './enforcement.ts'
import type { EventOptions } from './event-options.generated.ts'
import { nextSlot } from './held-slots.ts'
import type {
  BlockOptions,
  ClientOptions,
  GrantOptions,
  Limiter,
  LimitOptions,
  OverrideOptions,
  SettleOptions,
  WaitOptions,
} from './limiter.ts'
import type { ChargeListener } from './limiter-events.ts'
import { attachLive } from './live/attach-live.ts'
import { policyControl } from './live/policy-control.ts'
import type { PolicyControl } from './live/policy-state.ts'
import type { LimiterUse } from './open-limiter.ts'
import type { StoreOptions } from './options.generated.ts'
import type { Policy } from './policy.ts'
import { type Turn, toTurn } from './waiting/turn.ts'
import { Waiting } from './waiting/waiting.ts'

const SOURCES: readonly DecisionSource[] = ['store', 'cache', 'lease', 'local', 'allow', 'deny']

/** How the application's own calls name clients. Left out: by the keys that are charged. */
export interface ClientKeys {
  /** The key of the client that a text means. @throws SluiceError */
  keyOf(text: unknown): string
  /** Whether `block` and `reset` mean a network by it. @throws SluiceError where they need the option */
  isNetwork(text: string): boolean
  /** The limiters, and the keys in them, that `block` and `reset` act on. @throws SluiceError */
  everywhere(text: unknown): readonly { readonly limiter: StoreLimiter; readonly key: string }[]
  /** The limiters that close together. */
  siblings(): readonly StoreLimiter[]
}

/** The policies on a store, for keys: all of them are charged the same cost. */
export class StoreLimiter extends ChargeLimiter implements Limiter {
  /** Reused by every call, so that a synchronous decision allocates only itself. */
  readonly #charges = this.#blankCharges()
  readonly clients: ClientKeys | undefined
  #opened: Waiting | undefined
  readonly #detach: (() => void) | undefined

  /** @param clients how calls name clients. Left out: by the keys that are charged */
  constructor(
    policies: Policy[],
    options: StoreOptions & EventOptions<never>,
    use?: LimiterUse,
    clients?: ClientKeys,
  ) {
    super(policies, options, use)
    this.clients = clients
    if (this.livePolicies.length > 0)
      this.#detach = attachLive(this.networks.documents, this.livePolicies, () =>
        this.#opened?.relimit(this.compiledPolicies),
      )
  }

  consume(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): MaybePromise<Decision> {
    checkTaken(options, TAKEN.consume)
    this.#checkHoldsNothing('consume')
    const charges = this.#fill(key, costOf(options), options)
    return this.#decideAndReport(charges, options?.address)
  }

  async wait(
    key: string,
    options: { cost?: number } & WaitOptions & ClientOptions & LimitOptions = {},
  ): Promise<Decision> {
    checkTaken(options, TAKEN.wait)
    this.#checkHoldsNothing('wait')
    return this.waiting.wait(
      this.#fill(key, costOf(options), options, this.#blankCharges()),
      options,
    )
  }

  takeTurn(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): MaybePromise<Turn> {
    checkTaken(options, TAKEN.consume)
    this.#checkHoldsNothing('takeTurn')
    if (!this.compiledPolicies.some(({ algorithm }) => algorithm.options.maxDelay !== undefined))
      throw withoutTurns(this.compiledPolicies[0] as Policy)
    const charges = this.#fill(key, costOf(options), options, this.#blankCharges())
    return andThen(this.#decideAndReport(charges, options?.address), (decision) =>
      toTurn(decision, this.store.mode, () =>
        this.settleCharges(undone(madeOf(charges, decision.policies)), decision),
      ),
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
    checkTaken(options, TAKEN.wait)
    if (this.held === undefined)
      throw wrongMethod('acquire', 'consume', 'a policy that has concurrent or reserve')
    const cost = costOf(options)
    const charges = this.#fill(key, cost, options, this.#blankCharges())
    charges.forEach((charge, i) => {
      const { holdsSlots, reserves } = this.compiledPolicies[i] as Policy
      if (holdsSlots) Object.assign(charge, { cost: 1, claim: [nextSlot()] })
      if (reserves && cost > 0) charge.claim = [nextSlot()]
    })
    const decided =
      options?.maxWait === undefined
        ? this.#decideAndReport(charges, options?.address)
        : this.waiting.wait(charges, options)
    return andThen(decided, (decision) => {
      const made = madeOf(charges, decision.policies)
      const held = this.hold(made, decision, (reason) =>
        this.events.released(reason, made, undefined),
      )
      return toAcquisition(decision, this.store.mode, held, (actual = cost, isRepeated) =>
        this.#settleAcquired(made, decision, cost, actual, isRepeated),
      )
    })
  }

  /**
   * Corrects the charges of an acquisition, and ends its reservations. Slots are left as they are.
   * @param cost the estimate, units
   * @param actual its real cost, units
   */
  #settleAcquired(
    charges: readonly Charge[],
    decision: Decision,
    cost: number,
    actual: number,
    isRepeated: boolean,
  ): MaybePromise<void> {
    const delta = actual - cost
    if (delta === 0 && !this.compiledPolicies.some(({ reserves }) => reserves)) return undefined
    const corrected = charges.map((charge, i) => {
      const { holdsSlots, reserves } = this.compiledPolicies[i] as Policy
      const isMade = decision.policies[i]?.allowed !== false
      if (holdsSlots || !isMade) return { ...charge, cost: 0, claim: undefined }
      const ended = reserves && charge.claim && ending(charge.claim, cost)
      return { ...charge, cost: delta, claim: ended || undefined }
    })
    // A lower cost is given back to the time of the charge; a higher one is charged now.
    const { policies } = decision
    const origins = delta < 0 ? policies : policies.map(({ source }) => ({ source }))
    return this.settleCharges(corrected, { policies: origins }, undefined, isRepeated)
  }

  peek(key: string, options?: ClientOptions & LimitOptions): MaybePromise<Decision> {
    checkTaken(options, TAKEN.peek)
    const charges = this.#fill(key, 0, options)
    const blockedMs = this.#blockedMs(charges, options?.address)
    if (blockedMs > 0) return this.#asPromised(this.refuseNetwork(charges, blockedMs))
    return this.preview(charges)
  }

  settle(key: string, delta: number, options?: SettleOptions) {
    checkTaken(options, TAKEN.settle)
    const most = mostSettled(this.compiledPolicies.map(({ algorithm }) => algorithm))
    const units = checkInteger('delta', delta, -most, most)
    const { at, remaining } = options ?? {}
    const given = options?.source
    if (given !== undefined) checkOneOf('source', given, SOURCES)
    // The store has charged what is leased.
    const source = given === 'lease' ? 'store' : given
    if (at !== undefined) checkInteger('at', at, 0, Number.MAX_SAFE_INTEGER)
    if (remaining !== undefined) checkInteger('remaining', remaining, 0, Number.MAX_SAFE_INTEGER)
    const charges = this.#fill(key, units, options).map((charge) => placed(charge, remaining))
    const onIncrease = this.events.onIncrease(
      charges,
      this.compiledPolicies.map(() => ({ source })),
      undefined,
    )
    const change = { kind: 'settle', charges, chargedAt: at, source } as const
    const settled = this.ledgers.change(this.ledgers.of(charges), change, onIncrease)
    const origins = charges.map(() => ({ at }))
    return this.events.settled(settled as MaybePromise<undefined>, charges, undefined, origins)
  }

  reset(given: string | readonly string[], options?: BlockOptions): MaybePromise<void> {
    checkTaken(options, TAKEN.block)
    if (this.#isNetwork(given, options)) return this.networks.unblock(checkNetworks(given))
    return this.#everywhere(given, (limiter, key) =>
      limiter.#changeAll({ kind: 'reset', key }, options),
    )
  }

  override(key: string, override: OverrideOptions | null): MaybePromise<void> {
    return this.overrideKey(this.#keyOf(key), override)
  }

  grant(key: string, units: number, options?: GrantOptions): MaybePromise<boolean> {
    return this.grantKey(this.#keyOf(key), units, options)
  }

  block(
    given: string | readonly string[],
    duration: Duration,
    options?: BlockOptions,
  ): MaybePromise<void> {
    checkTaken(options, TAKEN.block)
    const durationMs = parseDuration('duration', duration)
    if (this.#isNetwork(given, options))
      return this.networks.block(checkNetworks(given), durationMs)
    return this.#everywhere(given, (limiter, key) => {
      const range = key.includes('/') ? parseCidr(key) : undefined
      // Keys of IPv6 are networks.
      if (range !== undefined && isIPv4(range.network)) warnOfKey()
      return limiter.#changeAll({ kind: 'block', key, durationMs }, options)
    })
  }

  /** Changes the policies that have `live`, in every process of a shared store. */
  get policies(): PolicyControl {
    return policyControl(this.networks.documents)
  }

  /** Its queues are made for the first call that waits, since most limiters have none. */
  get waiting(): Waiting {
    this.#opened ??= new Waiting(this, this.maxWaiting, (charges, address) =>
      this.#decideOwn(charges, this.#blockedMs(charges, address), false),
    )
    return this.#opened
  }

  /** Calls the listener with each charge of this limiter and of its siblings; undefined: none. */
  observe(listener: ChargeListener | undefined): void {
    for (const each of this.#all) each.events.onCharge = listener
  }

  /** Where this limiter and its siblings count. */
  get places(): readonly ChargeLimiter['counted'][] {
    return this.#all.map(({ counted }) => counted)
  }

  override close(): void {
    for (const each of this.clients?.siblings() ?? []) if (each !== this) each.close()
    this.#detach?.()
    this.waiting.close()
    super.close()
  }

  get #all(): readonly StoreLimiter[] {
    return [this, ...(this.clients?.siblings() ?? [])]
  }

  #keyOf(text: unknown): string {
    return this.clients === undefined ? checkKey(text) : this.clients.keyOf(text)
  }

  #isNetwork(given: unknown, options: BlockOptions | undefined): boolean {
    if (options?.network !== undefined || typeof given !== 'string') return !!options?.network
    return this.clients?.isNetwork(given) ?? false
  }

  #everywhere(
    text: unknown,
    act: (limiter: StoreLimiter, key: string) => MaybePromise<void>,
  ): MaybePromise<void> {
    if (this.clients === undefined) return act(this, checkKey(text))
    return all(this.clients.everywhere(text).map(({ limiter, key }) => act(limiter, key)))
  }

  #changeAll(change: Change, options: BlockOptions | undefined): MaybePromise<void> {
    return all(
      this.ledgers.all(options?.window).map((ledger) => this.ledgers.change(ledger, change)),
    )
  }

  /** Decides an application's own call, and reports it. An adapter reports its own decisions. */
  #decideAndReport(
    charges: readonly Charge[],
    address: string | undefined,
  ): MaybePromise<Decision> {
    const blockedMs = this.#blockedMs(charges, address)
    if (this.onDecision === undefined && !this.events.isWatched && blockedMs === 0)
      return this.decide(charges)
    const started = performance.now()
    return andThen(this.#decideOwn(charges, blockedMs), (decision) => {
      this.report(decision, charges, performance.now() - started)
      return decision
    })
  }

  /** The decision about a client in a blocked network, without a call of the store. */
  refuseNetwork(charges: readonly Charge[], blockedMs: number): Decision {
    const { networks, compiledPolicies, store } = this
    const source = store.mode === 'sync' ? 'store' : 'cache'
    return blockedDecision(
      blockedMs,
      { at: networks.documents.now(), source },
      compiledPolicies,
      charges,
    )
  }

  /** @param blockedMs until the block of the client's network ends, ms; 0: there is none */
  #decideOwn(
    charges: readonly Charge[],
    blockedMs: number,
    isCounted = true,
  ): MaybePromise<Decision> {
    return blockedMs === 0
      ? this.decide(charges, undefined, isCounted)
      : this.#asPromised(this.refuseNetwork(charges, blockedMs))
  }

  /** How long the client of an application's own call is blocked by its address, ms; 0 if it is not. */
  #blockedMs(charges: readonly Charge[], address: string | undefined): number {
    const { networks } = this
    if (networks.size === 0) return 0
    const [{ key }] = charges as [Charge]
    return address === undefined ? networks.blockedKeyMs(key) : networks.blockedMs(address)
  }

  /** Returns a promise where the store is remote. */
  #asPromised<T>(value: T): MaybePromise<T> {
    return this.store.mode === 'sync' ? value : Promise.resolve(value)
  }

  #checkHoldsNothing(method: string): void {
    if (this.held !== undefined)
      throw wrongMethod(method, 'acquire', 'no policy that has concurrent or reserve')
  }

  #fill(
    key: string,
    cost: number,
    given: LimitOptions | undefined,
    // When a remote store answers, another call may have reused these.
    charges = this.store.mode === 'sync' ? this.#charges : this.#blankCharges(),
  ): readonly Charge[] {
    const { documents } = this.networks
    if (documents.dueAt !== Infinity && performance.now() >= documents.dueAt) documents.refresh()
    const own = this.clients === undefined ? checkKey(key) : this.clients.keyOf(key)
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const policy = this.compiledPolicies[i] as Policy
      charge.key = own
      const limit = policy.limitFor(given?.limit, given?.anchor, given?.window)
      // The usual case: nothing depends on the client.
      charge.limit = policy.enforced === 1 ? limit : limitOfClient(policy, own, limit)
      charge.cost = cost
    }
    return charges
  }

  #blankCharges(): Charge[] {
    const limit = undefined as never
    return this.compiledPolicies.map(() => ({ key: '', limit, cost: 0 }))
  }
}

/** @returns units */
function costOf(options: { cost?: number } | undefined): number {
  return options?.cost === undefined ? 1 : checkCost(options.cost)
}

function warnOfKey(): void {
  warnOnce(
    'SLUICE_KEY_KIND',
    'block was called with a key that looks like a network of addresses. It blocks the one client with ' +
      'this key. To block the network, add the option { network: true }.',
  )
}

function withoutTurns({ algorithm }: Policy): SluiceError {
  return conflict(
    'takeTurn()',
    "a policy with algorithm: 'leaky-bucket'",
    algorithm.name,
    'Call wait() instead, which works with every algorithm: only a leaky bucket knows its turns in advance.',
  )
}

/** @param wanted the option that the limiter would need */
function wrongMethod(method: string, other: string, wanted: string): SluiceError {
  return conflict(
    `${method}()`,
    `a limiter with ${wanted}`,
    undefined,
    `Call ${other}() instead: only what acquire() takes is given back.`,
  )
}
