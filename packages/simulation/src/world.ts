import type { Audit, Fail } from './checks/audit.ts'
import type { LeaseBound } from './checks/lease-bound.ts'
import type { Networks } from './checks/networks.ts'
import type { Order } from './checks/order.ts'
import type { Shares } from './checks/shares.ts'
import type { Spent } from './checks/spent.ts'
import type { StoredPolicies } from './checks/stored-policies.ts'
import type { Cluster } from './cluster.ts'
import type { LoadCore } from './core.ts'
import type { Exchange } from './exchange.ts'
import type { Plan } from './plan.ts'
import type { Quotas } from './quotas.ts'
import type { LuaMachine } from './redis/lua.ts'
import type { Timeline } from './timeline.ts'

/** What the parts of a simulation share. */
export interface World {
  readonly plan: Plan
  readonly timeline: Timeline
  readonly cluster: Cluster
  readonly loadCore: LoadCore
  /** Runs the scripts of the store in Redis. Undefined: the store runs transactions in TypeScript */
  readonly lua: LuaMachine | undefined
  /** What the application's policies count. */
  readonly quotas: Quotas
  /** The limits of requests that have the other anchor of a calendar, as core has made them. */
  readonly otherAnchors: WeakSet<object> | undefined
  /** What the store has decided, by the definitions. */
  readonly audit: Audit
  /** What the store has decided about streams. */
  readonly streams: Audit
  /** What the store has decided about calls that wait. */
  readonly waits: Audit
  /** What the store has decided about the calls of one turn, and their order. */
  readonly calls: Audit
  /** What the store has decided about the calls of limiters that lease. */
  readonly leased: Audit
  readonly leaseBound: LeaseBound
  /** What the calls of language models have used. */
  readonly spent: Spent
  readonly order: Order
  readonly networks: Networks
  readonly shares: Shares
  /** What the store has had as the settings of live policies. */
  readonly stored: StoredPolicies
  /** The requests by the numbers of their slots. */
  readonly bySlot: Map<number, Exchange>
  /** When the last fault was over, ms. */
  troubledUntil: number
  readonly fail: Fail
  /** Notes what happens, for the story. */
  readonly tell: (who: string, what: () => string) => void
  /** Numbers in [0, 1) for one purpose. */
  readonly random: (purpose: string) => () => number
}
