import type { Decision, Limiter } from '@sluice/core'
import { teamOf } from '../exchange.ts'
import { type Application, REFUSALS } from '../faults.ts'
import { readingMs } from '../fetch-exchange.ts'
import { isSettledExactly, settlesOf } from '../options.ts'
import {
  enforcedOf,
  isOtherVersion,
  longestHold,
  type Plan,
  versionsOf,
  windowOf,
} from '../plan.ts'
import { madeBy, type Process } from '../process.ts'
import type { Server } from '../server.ts'
import type { World } from '../world.ts'
import { REMEMBERED_MS } from './account.ts'
import { decidedWithin } from './deadline.ts'
import { rulingOf } from './exemptions.ts'

/** The longest that the breaker stays open once the store works, ms: lost probes count for 30 s. */
const RECOVERY_MS = 40_000
const EVERY_MS = 500
/** The longest wait for a quota that is said to be full then, ms. */
const LONGEST_MS = 3_600_000

/** The longest until a settlement that the store has not confirmed is repeated, ms. */
const REPEATED_MS = 60_000

/** What a call takes at most on a quiet network, ms. */
const PEEK_MS = 10

/** Clients whose keys are in every part of a cluster. */
const EVERYWHERE = ['zoe0', 'zoe1', 'zoe2', 'zoe3']

/** Once nothing is wrong any more, every process uses the store again. */
export async function checkRecovery(world: World, { places }: Application): Promise<void> {
  const { timeline, plan } = world
  await timeline.run(Math.max(timeline.now, world.troubledUntil))
  for (const { connection } of places) connection.mode = 'works'
  const until = timeline.now + RECOVERY_MS
  const { cluster } = plan.application
  const all = cluster === undefined ? ['zoe'] : cluster.sharded ? ['zoe', 'cyd'] : EVERYWHERE
  const of = (client: string) => ({ at: timeline.now, process: 0, client, cost: 1, actual: 1 })
  const clients = all.filter((each) => !rulingOf({ planned: of(each) }, plan.application))
  const isOfStore = ({ lastSources }: Process) =>
    clients.every((client) => /store|cache/.test(`${lastSources.get(client)}`))
  while (timeline.now < until) {
    for (const each of places)
      for (const client of clients) each.arrive({ ...of(client), workMs: 0 })
    await timeline.run(timeline.now + EVERY_MS + plan.application.deadline)
    if (places.every(isOfStore)) return
  }
  for (const each of places)
    if (!isOfStore(each))
      world.fail('recovery', `${each.name} still decides by ${[...each.lastSources.values()]}`)
}

/** Documents are no longer read: that would be many events in the hours that follow. */
export async function restDocuments({ plan }: World, { places }: Application): Promise<void> {
  const isLive = plan.application.policies.some(({ live }) => live !== undefined)
  for (const { machine } of places) machine.isAtRest = isLive
}

/** Every slot that is in use is known to the store, and no other. */
export async function checkSlots(world: World, { places }: Application): Promise<void> {
  const { plan, timeline, audit, cluster, fail } = world
  if (!plan.application.policies.some((each) => 'hold' in each)) return
  const longest = Math.max(...plan.application.policies.map(windowOf))
  for (const each of places) each.isQuiet = true
  checkReleased(world, places)
  // What is not taken back when too many calls wait is free after hold.
  const endsAt = Math.max(timeline.now, ...places.map((each) => workedUntil(each, plan)))
  await timeline.run(endsAt + longestHold(plan) + longest + plan.application.deadline)
  const inUse = new Set<number>()
  for (const { exchanges } of places)
    for (const { charges, decision, isHeld } of exchanges)
      for (const [i, { claim: [slot] = [], limit }] of charges.entries())
        if (
          slot !== undefined &&
          limit.algorithm.holdsSlots &&
          decision?.allowed &&
          isHeld &&
          decision.policies.length > 0 &&
          madeBy(decision, i)
        )
          inUse.add(slot)
  const known = new Set<number>()
  for (const [id, { slots, inexact }] of audit.accounts) {
    const now = cluster.clockOf(id.split(' ')[1] as string)
    for (const [slot, until] of slots) if (until > now && inexact === undefined) known.add(slot)
  }
  // A clock that has stepped leaves other times behind than those that the audit knows.
  const isKnown = plan.faults.every(({ kind }) => kind !== 'server clock')
  for (const slot of inUse)
    if (isKnown && !known.has(slot)) fail('slots', 'a slot in use is not held')
  for (const slot of known) if (!inUse.has(slot)) fail('slots', 'a slot is held, and not in use')
}

/** Without faults, a slot is free soon after its request is over: nobody waits until it expires. */
function checkReleased({ plan, timeline, audit, cluster, bySlot, fail }: World, places: Process[]) {
  if (plan.faults.length > 0 || places.some(({ machine }) => machine.isOverloaded)) return
  const since = timeline.now - 2 * plan.application.deadline
  for (const [id, { slots }] of audit.accounts) {
    const now = cluster.clockOf(id.split(' ')[1] as string)
    for (const [slot, until] of slots) {
      const { overAt = Infinity } = bySlot.get(slot) ?? {}
      if (until > now && overAt < since) fail('slots', 'a slot is held whose request is over')
    }
  }
}

/** When the requests of a process that will end have ended, ms. */
function workedUntil({ exchanges }: Process, plan: Plan): number {
  const quietMs = Math.max(QUIET_MS, longestHold(plan))
  const ends = [...exchanges].map(({ arrivedAt, planned, decision }) => {
    const { workMs = 0, body } = planned
    const beginsAt = arrivedAt + (decision?.delayMs ?? 0)
    // A response that is not read any more holds its slots for as long as one that is.
    return beginsAt + workMs + (body === undefined ? 0 : readingMs(planned) + quietMs)
  })
  return Math.max(0, ...ends)
}

/** Every request was decided, unless its process has ended. */
export async function checkDecided(world: World, { places }: Application): Promise<void> {
  const { timeline, plan, fail } = world
  // Where requests wait, those that come again may do so for long.
  if (plan.application.waits) for (const each of places) each.isQuiet = true
  const mostMs = plan.application.deadline + decidedWithin(plan.application)
  await timeline.run(timeline.now + mostMs)
  const latest = timeline.now - mostMs
  for (const { exchanges, name } of places)
    for (const { decision, arrivedAt, planned, ruling } of exchanges)
      if (decision === undefined && arrivedAt <= latest && ruling === undefined)
        fail('deadline', `${name} never decided the request of ${planned.client} at ${arrivedAt}`)
}

/** Faults that only delay what is asked of the store. */
const DELAYS: readonly string[] = ['freeze', 'slow server', 'stall']

/** What every policy has counted is what was admitted, and nothing else. */
export async function checkAllOrNothing(world: World, { places }: Application): Promise<void> {
  const { timeline, plan, audit, fail, quotas } = world
  const { policies, cluster, deadline } = plan.application
  if (places.some(({ machine }) => machine.isOverloaded)) return
  for (const each of places) each.isQuiet = true
  await timeline.run(timeline.now + deadline + decidedWithin(plan.application))
  // Where keys are decided together, what a late call has charged to a refused request stays charged.
  const [first, ...others] = policies.filter(({ isOfRoute }) => !isOfRoute)
  const isSeparate =
    cluster?.sharded === false && others.some(({ level }) => level !== first?.level)
  const harmless = isSeparate ? DELAYS : []
  if (!plan.faults.every(({ kind }) => harmless.includes(kind))) return
  for (const [i, policy] of quotas.all.entries()) {
    // That of a route is decided alone.
    if (policy.isOfRoute && plan.faults.length > 0) continue
    // What comes late may be charged to a dry run that would have refused it in its place.
    if (enforcedOf(policy) < 1 && plan.faults.length > 0) continue
    const admitted = places.reduce((sum, each) => sum + (each.admitted[i] as number), 0)
    // What comes late was decided by a process too.
    const atLeast = plan.faults.length === 0 ? admitted : 0
    const charged = audit.charged[i] as number
    if (policy.settles || 'hold' in policy || (charged >= atLeast && charged <= admitted)) continue
    fail('all or nothing', `${policy.name} has ${charged} units, ${admitted} admitted`)
  }
}

/** How long the waits of all processes take at most, once no call comes any more, ms: each may come after a rest. */
const REST_MS = 40_000

/** Every call that waits is admitted in the end, or was given up, and nothing else is charged. */
export async function checkWaits(world: World, { places }: Application): Promise<void> {
  const { timeline, plan, fail, waits } = world
  const { queue, queueBan, deadline } = plan.application
  if (queue === undefined) return
  for (const each of places) each.isQuiet = true
  const open = () => places.flatMap(({ called }) => [...(called.queue?.waits.open ?? [])])
  const units = open().reduce((sum, { planned }) => sum + planned.cost + 1, 2)
  // A block that has ended applies again when the clock steps back.
  const blocks = plan.faults.some(({ kind }) => kind === 'block key')
  const bannedMs = Math.max(0, ...(queueBan?.for ?? []))
  const restMs = (blocks ? LONGEST_MS : bannedMs) + REST_MS
  await timeline.run(timeline.now + units * (windowOf(queue) * 1.1 + deadline) + restMs)
  const [left] = open()
  if (left !== undefined)
    fail('waiting', `the call of ${left.planned.client} at ${left.arrivedAt} still waits`)
  if (plan.faults.length > 0 || 'hold' in queue) return
  const admitted = places.reduce((sum, each) => sum + (each.called.queue?.waits.admitted ?? 0), 0)
  if (waits.charged[0] !== admitted)
    fail('waiting', `${waits.charged[0]} units are charged to calls, ${admitted} admitted`)
}

/** The longest until a response without progress is taken for one that has ended, ms: the default of `hold`. */
const QUIET_MS = 30_000

/** What was charged in the end is what the requests have cost. */
export async function checkSettled(world: World, { places }: Application): Promise<void> {
  const { timeline, plan, audit, fail, quotas } = world
  const { deadline } = plan.application
  if (!isSettledExactly(plan)) return
  for (const each of places) each.isQuiet = true
  for (const each of places) each.endAll()
  const endsAt = Math.max(timeline.now, ...places.map((each) => workedUntil(each, plan)))
  await timeline.run(endsAt + QUIET_MS + 2 * deadline)
  if (places.some(({ machine }) => machine.isOverloaded)) return
  for (const [i, policy] of quotas.all.entries()) {
    // What is reserved comes back by itself, and is charged again when it is settled.
    if (!settlesOf(policy) || 'reserveMs' in policy) continue
    let least = 0
    let most = 0
    for (const exchange of places.flatMap((each) => each.allowed)) {
      const { places, decision } = exchange
      const own = places.indexOf(i)
      if (own < 0 || !madeBy(decision as Decision, own)) continue
      least += exchange.charged[0]
      most += exchange.charged[1]
    }
    const charged = audit.charged[i] as number
    if (charged < least || charged > most)
      fail('settled', `${policy.name} has ${charged} units, its requests cost ${least} to ${most}`)
  }
}

/** Without faults, what was charged in the end is what was admitted: the rest of each lease was given back. */
export async function checkLeases(world: World, { places }: Application): Promise<void> {
  const { plan, timeline, leased, fail } = world
  const { leases, deadline } = plan.application
  if (leases === undefined || plan.faults.length > 0) return
  await timeline.run(timeline.now + 60_000 + 4 * leases.leaseMs + deadline)
  if (places.some(({ machine }) => machine.isOverloaded)) return
  for (const [i, { name }] of leases.policies.entries()) {
    const used = places.reduce((sum, { called }) => sum + (called.leased?.units.used[i] ?? 0), 0)
    if (leased.charged[i] !== used)
      fail('lease', `${name} was charged ${leased.charged[i]} units, and has admitted ${used}`)
  }
}

/** What each level of a budget has used is what its calls have, each charged once. */
export async function checkBudgets(world: World, { places }: Application): Promise<void> {
  const { plan, timeline, spent } = world
  if (plan.application.budget === undefined) return
  const [{ called }] = places as [Process]
  const models = plan.requests.filter(({ model }) => model !== undefined)
  const longest = Math.max(0, ...models.map(({ workMs = 0 }) => workMs))
  await timeline.run(timeline.now + longest + plan.application.budget.hold + REPEATED_MS)
  for (const client of new Set(models.map((each) => each.client))) {
    const asked = called.budgeted?.budget.usage({ client, team: teamOf(client) })
    void asked?.then(({ levels }) => {
      for (const { level, used } of levels)
        spent.checkUsed(
          level as 'client' | 'team',
          level === 'team' ? teamOf(client) : client,
          used,
        )
    })
    await timeline.run(timeline.now + plan.application.deadline)
  }
}

/** When nothing is in use any more, every quota is full when it was said to be, and no state is left. */
export async function checkUnused(world: World, { places }: Application): Promise<void> {
  const { timeline, plan, cluster, fail, audit, quotas } = world
  for (const each of places) each.isQuiet = true
  for (const each of places) each.endAll()
  await timeline.run(timeline.now + plan.application.deadline)
  const hasOwn = plan.faults.some(({ kind }) => kind === 'override' || kind === 'grant')
  // Processes that have ended may have set them.
  const known = new Set([...audit.accounts.keys()].map((id) => id.split(' ')[1] as string))
  for (const key of hasOwn ? known : []) {
    void (places[0] as Process).endOverrides(key)
    await timeline.run(timeline.now + quotas.all.length * plan.application.deadline)
  }
  // What is given back when too many calls wait is free after hold.
  const { policies, streams } = plan.application
  const reserves = streams !== undefined || policies.some((each) => 'reserveMs' in each)
  const heldMs = longestHold(plan) + (reserves ? REPEATED_MS : 0)
  if (plan.application.isFetch)
    await timeline.run(
      Math.max(timeline.now, ...places.map((each) => workedUntil(each, plan))) + QUIET_MS,
    )
  await timeline.run(timeline.now + Math.max(plan.application.deadline, heldMs))
  // A state from before a clock has stepped back, and a ban, are not full when that is said.
  const steps = plan.faults.some(({ kind }) => kind === 'server clock')
  if (steps || plan.application.ban !== undefined) return
  // A joined transaction that nobody answers keeps its keys for twice the deadline.
  await timeline.run(timeline.now + 2 * plan.application.deadline)
  const [first] = places as [Process]
  const others = [
    [first.called.streams, world.streams],
    [first.called.queue?.limiter, world.waits],
    [first.routeLimiter, first.routeLimiter ? audit : noAccounts],
  ] as const
  const isPaidFor = plan.requests.some(({ limit }) => limit !== undefined)
  const windows = quotas.vary ? quotas.windows : [undefined]
  const ofRequests = windows.map((window) => ({
    ...(isPaidFor && { limit: 1 }),
    ...(window && { window }),
  }))
  const peekAll = async () => {
    const peeked: Decision[] = []
    const asks = [...known].flatMap((key) =>
      ofRequests.map((each) => async () => first.limiter.peek(key, each)),
    )
    for (const [limiter, { accounts }] of others) {
      const all = limiter === first.routeLimiter ? ofRequests : [{}]
      for (const id of accounts.keys())
        for (const each of all)
          asks.push(async () =>
            (limiter as Limiter<'async'>).peek(id.split(' ')[1] as string, each),
          )
    }
    for (const ask of asks) {
      void ask().then((decision) => peeked.push(decision))
      await timeline.run(timeline.now + PEEK_MS)
    }
    await timeline.run(timeline.now + plan.application.deadline)
    if (peeked.length < asks.length) fail('deadline', 'a look was never answered')
    return peeked
  }
  const looks = await peekAll()
  // A limiter that nobody uses has not noticed that the store is back.
  if (looks.some(({ source }) => source !== 'store')) return
  const waits = looks.flatMap(({ policies }) => policies.map((each) => each.resetMs))
  const longest = Math.max(0, ...waits)
  if (longest > LONGEST_MS) return
  await timeline.run(timeline.now + longest)
  for (const { policies } of await peekAll())
    for (const { name, remaining, resetMs, source } of policies)
      if (resetMs > 0 || remaining === 0)
        fail('unused', `${name} has ${remaining} left, full in ${resetMs} ms (${source})`)
  // Where the anchor differs, a window that has ended is kept for as long again.
  if (policies.some((each) => 'anchors' in each)) return
  // What has faded to less than a unit is kept until its window has passed.
  const fading = quotas.all.flatMap((each) =>
    'window' in each && each.algorithm === 'sliding-window'
      ? [each.window, ...(each.windows ?? [])]
      : [],
  )
  if (Math.max(0, ...fading) > LONGEST_MS) return
  await timeline.run(timeline.now + Math.max(0, ...fading))
  // In Redis, keys live longer than their states are needed. Where limits differ, they also do in how long a state is kept; one with reservations is kept for its window, and
  // refusals for that of the ban which counts them.
  const hasBlocks = plan.faults.some(({ kind }) => kind === 'block network')
  const { calls, leases, queueBan } = plan.application
  const isLong = calls !== undefined || leases !== undefined || queueBan !== undefined
  const differ = isPaidFor || hasOwn || isLong || plan.faults.some(isOtherVersion)
  if (differ || hasBlocks || reserves || world.lua !== undefined)
    await timeline.run(
      timeline.now + LONGEST_MS + (reserves ? 3 * REMEMBERED_MS : 0) + aheadMs(plan),
    )
  // What a client has of its own stays for a policy whose name no version has any more.
  if (hasOwn && versionsOf(plan).some(({ isRenamed }) => isRenamed)) return
  if (cluster.size > 0 && plan.application.budget === undefined)
    fail('unused', `the store keeps ${cluster.size} keys`)
}

/** How far a process's clock is ahead at most, ms: what it says ends at a time ends so much later. */
function aheadMs({ faults }: Plan): number {
  const steps = faults.map((each) => (each.kind === 'process clock' ? Math.max(0, each.by) : 0))
  return steps.reduce((sum, ms) => sum + ms, 0)
}

const noAccounts = { accounts: new Map<string, never>() }

/** How often requests come while it is seen when processes probe, ms, and for how long. */
const PROBED_EVERY_MS = 10
const PROBED_MS = 1500
/** So many processes probe at the same times by chance once in 10^9 simulations. */
const HERD = 4

/** When each process has lost the store, after five calls that failed, ms: what it sends later is a probe. */
const LOST_MS = 100

/** Processes that have lost the store at the same time do not all probe it at the same times. */
export async function checkHerd(world: World, { places }: Application): Promise<void> {
  const { timeline, cluster, fail } = world
  // The parts of a cluster are probed separately.
  if (places.length < HERD || cluster.servers.length > 1) return
  ;(cluster.servers[0] as Server).refusal = REFUSALS['out of memory']
  const probes = places.map((): number[] => [])
  for (let at = 0; at < PROBED_MS; at += PROBED_EVERY_MS) {
    const before = places.map(({ connection }) => connection.sent)
    for (const each of places)
      each.arrive({ at, process: 0, client: `zoe ${at}`, cost: 1, actual: 1, workMs: 0 })
    await timeline.run(timeline.now + PROBED_EVERY_MS)
    if (at < LOST_MS) continue
    for (const [i, { connection, lastSources }] of places.entries()) {
      const isOfStore = lastSources.get(`zoe ${at}`) === 'store'
      if (!isOfStore && connection.sent > (before[i] as number)) probes[i]?.push(at)
    }
  }
  // One probe of each may come at the same time by chance.
  const [first, ...others] = probes.map((each) => (each.length < 2 ? '' : each.slice(-2).join()))
  if (first !== '' && others.every((each) => each === first))
    fail('herd', `all probe at ${first} ms`)
}
