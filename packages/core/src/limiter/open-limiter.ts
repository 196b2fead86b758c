import { readOptions } from '../options/read.ts'
import { OPTIONS } from '../options/table.ts'
import { termsOf } from '../stores/inspection/keyspace-text.ts'
import { MAIN, type Scope } from '../stores/inspection/scope.ts'
import { networkBlocksOf } from '../stores/networks/network-blocks.ts'
import { openLedger } from '../stores/open-ledger.ts'
import { resilientStore } from '../stores/resilient/resilient-store.ts'
import { resolveStore } from '../stores/resolve.ts'
import type { Keyspace, Ledger, Store } from '../stores/store.ts'
import { type BannedQuota, compileBan } from './ban.ts'
import type { EventOptions } from './event-options.generated.ts'
import { HeldSlots } from './held-slots.ts'
import { checkLease } from './leases/check-lease.ts'
import { Leases } from './leases/leases.ts'
import { LimiterEvents } from './limiter-events.ts'
import { namePolicies } from './live/attach-live.ts'
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

export type LimiterParts = ReturnType<typeof openLimiter>

/**
 * Opens the parts of a limiter: its ledgers in the store, and those that it shares with other limiters.
 *
 * @param policies the limiter's own array: documents put other policies in the place of those that have `live`
 * @throws SluiceError for wrong options
 */
export function openLimiter(
  policies: Policy[],
  options: StoreOptions & EventOptions<never>,
  use: LimiterUse = {},
) {
  const values = readOptions(OPTIONS.store, '', options)
  const { scope = MAIN, dryRun = false } = use
  const prefix = values.prefix + scope
  const store = resolveStore(options.store)
  const isOwn = options.store === undefined
  if (values.lease !== undefined)
    checkLease(values.lease, store, policies, values.ban !== undefined)
  const leases = values.lease === undefined ? undefined : new Leases(values.lease, store.clock)
  const bannedQuota = use.bannedQuota ?? { prefix, quota: (policies[0] as Policy).keyspace().name }
  const ban = values.ban === undefined ? undefined : compileBan(values.ban, bannedQuota, dryRun)
  const isAware = options.prefix !== undefined || use.sharesQuotas === true
  const unregisterQuotas = isOwn ? undefined : registerQuotas(store, prefix, policies, isAware)
  const resilient = resilientOf(store, values, use.settles ?? false)
  const networks = networkBlocksOf(store, values.prefix)
  const livePolicies = namePolicies(policies, options.name, use.route)
  const open = (keyspaces: readonly Keyspace[], settles?: boolean): Ledger =>
    resilient?.open(keyspaces, prefix, settles) ?? openLedger(store, keyspaces, prefix)
  const ledgers = new PolicyLedgers(
    policies,
    livePolicies,
    (keyspaces) => leases?.on(open(keyspaces)) ?? open(keyspaces),
    ban,
  )
  const holding = policies.filter(({ holdMs }) => holdMs !== undefined)
  const held = holding.length > 0 ? new HeldSlots(holding, ledgers) : undefined
  const shape = policies
    .map((each) => each.keyspace())
    .map((each) => `${each.name} ${termsOf(each)}`)
  return {
    policies,
    counted: { prefix, policies, ban, route: use.route },
    /** Opens the ledgers of policies of several limiters on the store. For previews */
    openTogether: (counted: readonly Counted[]) =>
      new PolicyLedgers(counted, [], (keyspaces) => open(keyspaces, false)),
    store,
    ledgers,
    bannedQuota,
    counting: ban?.limit,
    events: eventsOf(policies, options, values.localShare, dryRun),
    networks,
    livePolicies,
    maxWaiting: values.maxWaiting,
    onDecision: use.onDecision,
    /** Undefined if no policy has `concurrent` or `reserve`. */
    held,
    singleUse: isOwn ? SingleUse.start(`${shape}`) : undefined,
    /** Releases the parts that were opened here. A store that was passed stays open. */
    release(): void {
      leases?.close()
      resilient?.close()
      unregisterQuotas?.()
      held?.close()
      if (isOwn) store.close()
    },
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
