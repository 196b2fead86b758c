import { readOptions } from '../options/read.ts'
import { OPTIONS } from '../options/table.ts'
import { termsOf } from '../stores/inspection/keyspace-text.ts'
import { MAIN, type Scope } from '../stores/inspection/scope.ts'
import { type NetworkBlocks, networkBlocksOf } from '../stores/networks/network-blocks.ts'
import { openLedger } from '../stores/open-ledger.ts'
import { resilientStore } from '../stores/resilient/resilient-store.ts'
import { resolveStore } from '../stores/resolve.ts'
import type { Keyspace, Ledger, Store, StoreMode } from '../stores/store.ts'
import { type BanKeyspace, type BannedQuota, compileBan } from './ban.ts'
import type { EventOptions } from './event-options.generated.ts'
import { HeldSlots } from './held-slots.ts'
import { checkLease } from './leases/check-lease.ts'
import { Leases } from './leases/leases.ts'
import { LimiterEvents } from './limiter-events.ts'
import { namePolicies } from './live/attach-live.ts'
import type { LivePolicy } from './live/live-policies.ts'
import { SingleUse } from './made-per-request.ts'
import type { StoreOptions } from './options.generated.ts'
import type { Policy } from './policy.ts'
import { type Counted, PolicyLedgers } from './policy-ledgers.ts'
import { registerQuotas } from './shared-quota.ts'
import { ThresholdEvents } from './thresholds/threshold-events.ts'

/** How a limiter is used. */
export interface LimiterUse {
  /** Separates its keys from those of other limiters with the same policies. */
  readonly scope?: Scope
  /** Whether it will settle its charges. */
  readonly settles?: boolean
  /** Whether it is a dry run: refused requests continue. */
  readonly dryRun?: boolean
  /** For a route: the quota of its limiter. Default: its own */
  readonly bannedQuota?: BannedQuota | undefined
  /** Whether it is meant to share its quotas with others on the store. */
  readonly sharesQuotas?: boolean
  /** Called with the decisions of `consume` and `acquire`. */
  readonly onDecision?: EventOptions['onDecision']
  /** The route that it is for, if that has limits of its own: a part of the name of its live policies. */
  readonly route?: string | undefined
}

/** A limiter that is open: its ledgers in the store, and the parts that it shares with other limiters. */
export class OpenLimiter {
  readonly compiledPolicies: readonly Policy[]
  readonly store: Store
  readonly ledgers: PolicyLedgers<StoreMode>
  /** Where it counts. */
  readonly counted: {
    readonly prefix: string
    readonly policies: readonly Policy[]
    readonly ban: BanKeyspace | undefined
    readonly route: string | undefined
  }
  readonly bannedQuota: BannedQuota
  readonly events: LimiterEvents
  /** The networks that are blocked under the prefix, whatever the scope. */
  readonly networks: NetworkBlocks
  readonly maxWaiting: number
  protected readonly livePolicies: readonly LivePolicy[]
  protected readonly onDecision: EventOptions['onDecision']
  /** Undefined if no policy has `concurrent` or `reserve`. */
  protected readonly held: HeldSlots | undefined
  protected singleUse: SingleUse | undefined
  readonly #open: (keyspaces: readonly Keyspace[], settles?: boolean) => Ledger
  /** Releases the parts that were opened here. A store that was passed stays open. */
  readonly #release: () => void

  /**
   * @param policies the limiter's own array: documents put other policies in the place of those that have `live`
   * @throws SluiceError for wrong options
   */
  constructor(
    policies: Policy[],
    options: StoreOptions & EventOptions<never>,
    { scope = MAIN, dryRun = false, settles = false, ...use }: LimiterUse = {},
  ) {
    const values = readOptions(OPTIONS.store, '', options)
    const prefix = values.prefix + scope
    const store = resolveStore(options.store)
    const isOwn = options.store === undefined
    if (values.lease !== undefined)
      checkLease(values.lease, store, policies, values.ban !== undefined)
    const leases = values.lease === undefined ? undefined : new Leases(values.lease, store.clock)
    const keyspaces = policies.map((each) => each.keyspace())
    this.bannedQuota = use.bannedQuota ?? { prefix, quota: (keyspaces[0] as Keyspace).name }
    const ban =
      values.ban === undefined ? undefined : compileBan(values.ban, this.bannedQuota, dryRun)
    const isAware = options.prefix !== undefined || use.sharesQuotas === true
    const unregisterQuotas = isOwn ? undefined : registerQuotas(store, prefix, policies, isAware)
    const resilient = resilientOf(store, values, settles)
    this.compiledPolicies = policies
    this.store = store
    this.counted = { prefix, policies, ban, route: use.route }
    this.networks = networkBlocksOf(store, values.prefix)
    this.livePolicies = namePolicies(policies, options.name, use.route)
    this.#open = (keyspaces, settles) =>
      resilient?.open(keyspaces, prefix, settles) ?? openLedger(store, keyspaces, prefix)
    const open = (keyspaces: readonly Keyspace[]) =>
      leases?.on(this.#open(keyspaces)) ?? this.#open(keyspaces)
    this.ledgers = new PolicyLedgers(policies, this.livePolicies, open, ban)
    this.events = eventsOf(policies, options, values.localShare, dryRun)
    this.maxWaiting = values.maxWaiting
    this.onDecision = use.onDecision
    const holding = policies.filter(({ holdMs }) => holdMs !== undefined)
    const held = holding.length > 0 ? new HeldSlots(holding, this.ledgers) : undefined
    this.held = held
    const shape = keyspaces.map((each) => `${each.name} ${termsOf(each)}`)
    this.singleUse = isOwn ? SingleUse.start(`${shape}`) : undefined
    this.#release = () => {
      leases?.close()
      resilient?.close()
      unregisterQuotas?.()
      held?.close()
      if (isOwn) store.close()
    }
  }

  /** Opens the ledgers of policies of several limiters on the store. For previews */
  openTogether(counted: readonly Counted[]): PolicyLedgers<StoreMode> {
    return new PolicyLedgers(counted, [], (keyspaces) => this.#open(keyspaces, false))
  }

  close(): void {
    this.singleUse?.end()
    this.#release()
  }
}

/** A remote store with its deadline and failure mode. */
function resilientOf(
  store: Store,
  values: ReturnType<typeof readOptions<typeof OPTIONS.store>>,
  settles: boolean,
) {
  if (store.mode === 'sync') return undefined
  const { deadline, onStoreError, refusalCache, localShare, lease } = values
  return resilientStore(store as Store<'async'>, {
    deadlineMs: deadline,
    onStoreError,
    // Leases are given back all the time: refusals are remembered for no longer than one lasts.
    refusalCache: refusalCache ?? (lease !== undefined && !settles ? true : undefined),
    rememberedMs: lease,
    settles,
    localShare,
  })
}

function eventsOf(
  policies: readonly Policy[],
  options: EventOptions<never>,
  localShare: number,
  dryRun: boolean,
): LimiterEvents {
  const { name, keySecret } = readOptions(OPTIONS.events, '', options)
  const given: ConstructorParameters<typeof LimiterEvents> = [policies, name, keySecret, dryRun]
  return policies.some(({ alertAt, live }) => (alertAt ?? live) !== undefined)
    ? new ThresholdEvents(given, localShare, options.onThreshold)
    : new LimiterEvents(...given)
}
