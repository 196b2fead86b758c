import { random } from '@sluice/test-harness/random'
import {
  checkAllOrNothing,
  checkBudgets,
  checkDecided,
  checkHerd,
  checkLeases,
  checkRecovery,
  checkSettled,
  checkSlots,
  checkUnused,
  checkWaits,
  restDocuments,
} from './checks/at-the-end.ts'
import { Audit } from './checks/audit.ts'
import { LeaseBound } from './checks/lease-bound.ts'
import { Networks } from './checks/networks.ts'
import { Order } from './checks/order.ts'
import { Shares } from './checks/shares.ts'
import { Spent } from './checks/spent.ts'
import { StoredPolicies } from './checks/stored-policies.ts'
import { Cluster } from './cluster.ts'
import type { Cores } from './core.ts'
import { type Application, cause } from './faults.ts'
import { EPOCH } from './machine.ts'
import { maySendTwice, type Plan, type PlannedVersion, versionsOf } from './plan.ts'
import { Process } from './process.ts'
import { Quotas } from './quotas.ts'
import type { LuaMachine } from './redis/lua.ts'
import { Timeline } from './timeline.ts'
import type { World } from './world.ts'

/** Many times what any plan needs: beyond it, something never ends. */
const MAX_EVENTS = 1_000_000

/** What happened that must not. */
export interface Failure {
  /** The name of the check. */
  readonly check: string
  readonly what: string
  /** ms of the simulation, and how many events there were by then. */
  readonly at: number
  readonly event: number
}

export interface Outcome {
  readonly failure: Failure | undefined
  /** How long it was, ms of the simulation. */
  readonly simulatedMs: number
  readonly events: number
  /** What happened, line by line; empty unless it was asked for. */
  readonly story: readonly string[]
}

/** How a plan is played. */
interface Playing {
  /** Whether its story is told. */
  readonly tells?: boolean
  /** Runs the scripts of the store in Redis. Left out: the store runs transactions in TypeScript */
  readonly lua?: LuaMachine | undefined
}

/** Plays a plan until it is over, or something happens that must not. */
export async function simulate(
  plan: Plan,
  cores: Cores,
  { tells = false, lua }: Playing = {},
): Promise<Outcome> {
  const timeline = new Timeline()
  const story: string[] = []
  let failure: Failure | undefined
  const tell: World['tell'] = (who, what) => {
    if (tells) story.push(`${timeline.now.toFixed(3).padStart(12)}  ${who}: ${what()}`)
  }
  const fail: World['fail'] = (check, what) => {
    if (failure !== undefined) return
    tell('check', () => `${check}: ${what}`)
    failure = { check, what, at: timeline.now, event: timeline.events }
    timeline.stop()
  }
  const { policies, streams: reserving, queue, calls: called, leases } = plan.application
  const now = () => timeline.now
  const sendsTwice = maySendTwice(plan)
  const quotas = new Quotas(policies, versionsOf(plan))
  const isAnchored = policies.some((each) => 'anchors' in each)
  const otherAnchors = isAnchored ? new WeakSet() : undefined
  const audit = new Audit(quotas.all, fail, now, sendsTwice, otherAnchors)
  const streams = new Audit(reserving === undefined ? [] : [reserving], fail, now, false)
  const waits = new Audit(queue === undefined ? [] : [queue], fail, now, sendsTwice)
  // What a call gives back, nobody may have charged.
  const calls = new Audit(called === undefined ? [] : [called], fail, now, true)
  const leased = new Audit(leases?.policies ?? [], fail, now, sendsTwice)
  const leaseBound = new LeaseBound(leases, () => world)
  const spent = new Spent(plan, fail)
  // A script that a server of Redis has lost is sent again, and comes after others of its turn.
  const mayLose =
    lua !== undefined &&
    (plan.application.cluster !== undefined || plan.faults.some(({ kind }) => kind === 'restart'))
  const stored = new StoredPolicies(fail, now, () => world.cluster)
  const world: World = {
    plan,
    timeline,
    cluster: new Cluster(plan.application.cluster?.masters ?? 1, timeline, plan.epoch ?? EPOCH, [
      audit,
      streams,
      waits,
      calls,
      leased,
      leaseBound,
      spent,
      stored,
    ]),
    loadCore: cores.begin(),
    lua,
    quotas,
    otherAnchors,
    audit,
    streams,
    waits,
    calls,
    leased,
    leaseBound,
    spent,
    order: new Order({ timeline, fail, troubledUntil: () => world.troubledUntil }, !mayLose),
    networks: new Networks({ timeline, fail, plan, tell }),
    shares: new Shares(fail),
    stored,
    bySlot: new Map(),
    troubledUntil: 0,
    fail,
    tell,
    random: (purpose) => random(plan.seed ^ hashOf(purpose)),
  }
  const application = start(world)
  for (const request of plan.requests)
    timeline.at(request.at, 1, () => application.places[request.process]?.arrive(request))
  for (const fault of plan.faults) timeline.at(fault.at, 1, () => cause(fault, world, application))
  const rejected = (error: unknown) => fail('escaped', `a rejection: ${error}`)
  process.on('unhandledRejection', rejected)
  try {
    timeline.limit(MAX_EVENTS, () => fail('endless', `${MAX_EVENTS} events`))
    await timeline.run(plan.duration)
    for (const check of [
      checkRecovery,
      restDocuments,
      checkDecided,
      checkAllOrNothing,
      checkWaits,
      checkSlots,
      checkSettled,
      checkLeases,
      checkBudgets,
      checkUnused,
      checkHerd,
    ])
      if (failure === undefined) await check(world, application)
  } finally {
    process.off('unhandledRejection', rejected)
  }
  return { failure, simulatedMs: timeline.now, events: timeline.events, story }
}

function start(world: World): Application {
  let started = 0
  const create = (place: number, version: PlannedVersion = {}) => {
    const name = `process ${place}${started < world.plan.application.processes ? '' : ` (${started})`}`
    started += 1
    return new Process(world, name, version)
  }
  const places: Process[] = []
  for (let i = 0; i < world.plan.application.processes; i += 1) places.push(create(i))
  return {
    places,
    replace: (place, version) => {
      places[place] = create(place, version)
    },
  }
}

/** A number of a text: FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
