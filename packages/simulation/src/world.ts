import { Audit } from './checks/audit.ts'
import { LeaseBound } from './checks/lease-bound.ts'
import { Networks } from './checks/networks.ts'
import { Order } from './checks/order.ts'
import { Shares } from './checks/shares.ts'
import { Spent } from './checks/spent.ts'
import { StoredPolicies } from './checks/stored-policies.ts'
import type { Cores, LoadCore } from './core.ts'
import type { Exchange } from './exchange.ts'
import { maySendTwice, type Plan, type PlannedPolicy, versionsOf } from './plan.ts'
import { Quotas } from './quotas.ts'
import type { LuaMachine } from './redis/lua.ts'
import { Run } from './run.ts'

/** How a plan is played. */
export interface Playing {
  /** Whether its story is told. */
  readonly tells?: boolean
  /** Runs the scripts of the store in Redis. Left out: the store runs transactions in TypeScript */
  readonly lua?: LuaMachine | undefined
}

/** What the parts of a simulation share. */
export class World extends Run {
  readonly loadCore: LoadCore
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
  readonly leaseBound = new LeaseBound(this)
  /** What the calls of language models have used. */
  readonly spent = new Spent(this)
  readonly order: Order
  readonly networks = new Networks(this)
  readonly shares = new Shares(this.fail)
  /** What the store has had as the settings of live policies. */
  readonly stored = new StoredPolicies(this)
  /** The requests by the numbers of their slots. */
  readonly bySlot = new Map<number, Exchange>()

  constructor(plan: Plan, cores: Cores, { tells = false, lua }: Playing) {
    super(plan, tells)
    const { policies, streams, queue, calls, leases, cluster } = plan.application
    this.loadCore = cores.begin()
    this.lua = lua
    this.quotas = new Quotas(policies, versionsOf(plan))
    this.otherAnchors = policies.some((each) => 'anchors' in each) ? new WeakSet() : undefined
    const sendsTwice = maySendTwice(plan)
    const auditOf = (policy: PlannedPolicy | undefined, givesBackMore = sendsTwice) =>
      new Audit(policy === undefined ? [] : [policy], this, givesBackMore)
    this.audit = new Audit(this.quotas.all, this, sendsTwice, this.otherAnchors)
    this.streams = auditOf(streams, false)
    this.waits = auditOf(queue)
    // What a call gives back, nobody may have charged.
    this.calls = auditOf(calls, true)
    this.leased = new Audit(leases?.policies ?? [], this, sendsTwice)
    // A script that a server of Redis has lost is sent again, and comes after others of its turn.
    const restarts = plan.faults.some(({ kind }) => kind === 'restart')
    const mayLose = lua !== undefined && (cluster !== undefined || restarts)
    this.order = new Order(this, !mayLose)
    const audits = [this.audit, this.streams, this.waits, this.calls, this.leased]
    this.cluster.witnesses.push(...audits, this.leaseBound, this.spent, this.stored)
  }
}
