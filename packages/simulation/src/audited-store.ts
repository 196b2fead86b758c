import { createHash } from 'node:crypto'
import type {
  Change,
  Charge,
  Claim,
  CompiledLimit,
  Ledger,
  Outcome,
  Store,
  StoreResult,
} from '@sluice/core/store'
import type { ListingBackend, TransactionalBackend } from '@sluice/transactional'
import type { Asked, Learning } from './asked.ts'
import type { OwnEntry } from './checks/account.ts'
import type { Audit } from './checks/audit.ts'
import type { BanSpace } from './checks/bans.ts'
import type { InForce } from './checks/in-force.ts'
import { groupOf, tagOf } from './cluster.ts'
import type { Core } from './core.ts'
import type { Owner } from './owner.ts'
import { maySendTwice } from './plan.ts'
import type { Quotas } from './quotas.ts'
import { auditedRedis } from './redis/audited-redis.ts'
import type { World } from './world.ts'

/** What uses the store. */
export interface User {
  readonly name: string
  /** Where its charges are accounted for. */
  readonly audit: Audit
  readonly quotas: Quotas
  /** The limit of each quota. */
  readonly limits: readonly number[]
  /** How long each quota holds what it is charged, ms. Left out: as planned */
  readonly holds?: readonly number[]
  /** The limits of requests, by what core has made of them. Left out: as planned */
  readonly limitOf?: WeakMap<object, number>
  /** The number of the policy of a route that counts separately. Left out: there is none */
  readonly routePlace?: number | undefined
  /** Where its limiter counts what it refuses, and where the route does that counts separately. */
  readonly bans?: { readonly common: BanSpace; readonly route: BanSpace } | undefined
  /** The requests that were decided. Left out: it asks for some of them again */
  readonly once?: WeakSet<readonly Charge[]>
  /** What is in force in the process. Left out: no document is read */
  readonly inForce?: InForce
  /** Whether the order of its calls is checked. */
  readonly isOrdered?: true
  /** Units that it may charge without a decision of the store: by key. Undefined: any, since it settles. */
  readonly allowance: Map<string, number> | undefined
}

/**
 * Core's store on the simulated server. Whenever a script runs there, the audit learns what it was asked and
 * what it said.
 */
export function auditedStore(owner: Owner, user: User): Store<'async'> {
  const { world } = owner
  let asked: Asked | undefined
  const learning: Learning = {
    asked: () => asked,
    ran: (own, value, now) => learn(world, user, own, value, now, world.cluster.transaction),
  }
  const store = storeOver(owner, learning)
  const open: Store<'async'>['open'] = (...opened) => {
    const [given, prefix] = opened
    const ban = given.find(({ algorithm }) => algorithm.chargedOn === 'refusal')
    const policies = given.filter((each) => each !== ban)
    const { audit, quotas, routePlace } = user
    const { keyspaces, bans } = audit
    const isOfRoute = routePlace !== undefined && prefix.endsWith(SCOPE)
    const common = routePlace ?? quotas.policies
    const first = isOfRoute ? routePlace : 0
    if (isOfRoute || policies.length === common)
      for (const [i, { name }] of policies.entries()) {
        const place = quotas.named(first + i, name)
        if (place >= 0) keep(world, audit, place, [prefix, name])
      }
    const places = policies.map(({ name }) =>
      keyspaces.findIndex((known) => known?.[0] === prefix && known[1] === name),
    )
    const records = policies.map(({ name }, i) => {
      const policy = quotas.all[places[i] as number]?.name ?? policyIn(name)
      return audit.placesNamed(policy, isOfRoute)
    })
    const space = ban && user.bans?.[isOfRoute ? 'route' : 'common']
    if (ban !== undefined && space !== undefined)
      bans.keyspaces.set(space.id, [ban.prefix ?? prefix, ban.name])
    const ledger: Ledger<'async'> & { ready?(): Promise<void> } = store.open(...opened)
    let isReady = ledger.ready === undefined
    const ready = ledger.ready?.().then(() => {
      isReady = true
    })
    /** A ledger that is still being loaded would ask its store when nobody knows any more what for. */
    const onceReady = <T>(ask: () => Promise<T>): Promise<T> =>
      isReady ? ask() : (ready as Promise<void>).then(ask)
    function asking<T>(own: Pick<Asked, 'requests' | 'change' | 'isPeek'>, ask: () => T): T {
      asked = {
        ...own,
        keyspaces: given,
        prefix,
        places,
        records,
        space,
        sentAt: world.timeline.now,
      }
      const answer = ask()
      asked = undefined
      return answer
    }
    return {
      shard: ledger.shard,
      decide: (requests, isPeek) =>
        onceReady(() => asking({ requests, isPeek }, () => ledger.decide(requests, isPeek))),
      change: (change, raised) =>
        onceReady(() => asking({ change }, () => ledger.change(change, raised))),
    }
  }
  const { documents } = store
  return user.inForce && documents
    ? { ...store, open, documents: user.inForce.watch(documents) }
    : { ...store, open }
}

/** Core's store on the simulated server, of which nothing is learnt unless it is said. */
export function storeOver(
  { core, connection, world }: Owner,
  learning: Learning = { asked: () => undefined, ran() {} },
): Store<'async'> {
  const { cluster } = world.plan.application
  const store =
    world.lua === undefined
      ? transactional(core, connection, world, learning)
      : auditedRedis(core, connection, world.lua, cluster !== undefined, learning)
  const shard = cluster && ((key: string) => groupOf(tagOf(key) || key))
  return { ...store, open: (...opened) => Object.assign(store.open(...opened), { shard }) }
}

/** Its transactions run in TypeScript. */
function transactional(
  core: Core,
  { transact, list }: Pick<ListingBackend, 'transact' | 'list'>,
  { plan }: World,
  learning: Learning,
): Store<'async'> {
  const sent = plan.application.joins ? core.joinTransactions(borrowing(core, transact)) : transact
  /** What each decision is about: a ledger repeats it with more keys where its transaction had too few. */
  const about = new WeakMap<object, Asked>()
  return core.transactionalStore({
    list,
    transact(keys, decide, withinMs) {
      const asked = learning.asked()
      if (asked !== undefined) about.set(decide, asked)
      const known = about.get(decide)
      return sent(
        keys,
        (...given) => {
          const decided = decide(...given)
          const { value } = (decided.value ?? {}) as { readonly value?: unknown }
          if (known !== undefined && value !== undefined) learning.ran(known, value, given[1])
          return decided
        },
        withinMs,
      )
    },
  })
}

/** The name of the policy whose states are in a keyspace: no calendar has windows that depend on the request. */
function policyIn(keyspace: string): string {
  return keyspace.split(':').slice(2).join(':')
}

/** What changes the meaning of a policy's states changes where they are, and nothing else does. */
function keep(
  { fail }: World,
  { keyspaces }: Audit,
  place: number,
  [prefix, name]: readonly [string, string],
) {
  const known = keyspaces[place]
  const isElsewhere = known !== undefined && (known[0] !== prefix || known[1] !== name)
  const isOfOther = keyspaces.some(
    (each, other) => other !== place && each?.[0] === prefix && each[1] === name,
  )
  if (isElsewhere || isOfOther) fail('deploy', `quota ${place} is kept as ${prefix} ${name}`)
  keyspaces[place] = [prefix, name]
}

/** What follows the prefix in the keys of the route that counts separately. */
const SCOPE = `.${createHash('sha256').update('/own').digest('hex').slice(0, 8)}`

/** As from a pool: what is not answered in time is given up, and its connection closed. */
function borrowing(
  core: Core,
  transact: TransactionalBackend['transact'],
): TransactionalBackend['transact'] {
  const pool = { connect: async () => undefined, release() {} }
  const borrower = new core.Borrower<undefined>(pool)
  return (keys, decide, withinMs) =>
    borrower.use(withinMs as number, () => transact(keys, decide, withinMs))
}

/** What a call does to the accounts. A peek changes none. */
function learn(
  world: World,
  user: User,
  asked: Asked,
  value: unknown,
  now: number,
  transaction: number,
): void {
  const { requests, change, places, isPeek } = asked
  if (user.isOrdered) noteOrder(world, user, asked)
  if (isPeek) {
    checkPeeks(user, asked, value as (StoreResult | Error)[])
    return
  }
  const charges = requests !== undefined || change?.kind === 'settle' || change?.kind === 'renew'
  // A window that no request has had is not counted.
  if (places.includes(-1) && (!user.quotas.vary || charges)) {
    world.fail('route', `${user.name} counts by other keys than those of its routes`)
    return
  }
  if (requests !== undefined)
    learnDecisions(world, user, asked, requests, value as (StoreResult | Error)[], transaction)
  if (change !== undefined)
    learnChange(world, user, asked, change, value as { result: unknown }, now, transaction)
}

/** The limits of a request, as planned. */
function limitsOf(world: World, user: User, places: readonly number[], charges: readonly Charge[]) {
  return places.map((place, i) => {
    const limit = charges[i]?.limit
    const quota = user.quotas.all[place]
    const { windowMs } = limit?.params ?? {}
    if (quota && 'windows' in quota && quota.windows && windowMs && windowMs !== quota.window)
      world.fail(
        'window',
        `${user.name} counts a request with a window of ${windowMs} ms by ${quota.window}`,
      )
    return ((limit && user.limitOf?.get(limit)) ?? user.limits[place]) as number
  })
}

/** The calls of a limiter reach the store. */
function noteOrder({ order }: World, { name }: User, { requests, change, isPeek }: Asked): void {
  const [[first] = []] = requests ?? []
  // A look may be asked for with and without its cost.
  if (isPeek) order.ran(name, (first as Charge).key, 'peek')
  else
    for (const [charge] of requests ?? []) {
      const { key, cost } = charge as Charge
      order.ran(name, key, `consume ${cost}`)
    }
  if (change?.kind === 'settle' && !change.isProbe) {
    const [{ key, cost }] = change.charges as readonly [Charge]
    order.ran(name, key, `settle ${cost}`)
  } else if (change?.kind === 'override')
    order.ran(name, change.key, `override ${change.override?.limit}`)
  else if (change?.kind === 'grant') order.ran(name, change.key, `grant ${change.grant.units}`)
}

/** A look shows the ban of a client, and counts nothing. */
function checkPeeks(
  { audit }: User,
  { requests = [], places, space }: Asked,
  results: readonly (StoreResult | Error)[],
): void {
  if (space === undefined) return
  for (const [i, result] of results.entries()) {
    const [{ key }] = requests[i] as readonly [Charge]
    if (result instanceof Error) continue
    audit.bans.checkPeek(space, key, result.outcomes[places.length], result.at)
  }
}

function learnDecisions(
  world: World,
  user: User,
  { places, space }: Asked,
  requests: readonly (readonly Charge[])[],
  results: readonly (StoreResult | Error)[],
  transaction: number,
): void {
  const { fail, tell } = world
  for (const [i, asked] of requests.entries()) {
    const result = results[i] as StoreResult | Error
    // Behind the policies is what counts refusals.
    const charges = asked.slice(0, places.length)
    const counting = asked[places.length]
    if (user.once?.has(asked) && !maySendTwice(world.plan))
      fail('once', `a request of ${user.name} is decided twice`)
    // One that waits is asked for until it is admitted, and again if an answer is late.
    const { plan } = world
    const mayAskAgain = plan.application.waits !== undefined
    const isOver = result instanceof Error || result.admitted
    if (!mayAskAgain || (isOver && plan.faults.length === 0)) user.once?.add(asked)
    if (result instanceof Error) {
      fail('readable', `the store could not decide: ${result.message}`)
      continue
    }
    const isOfRoute = user.routePlace !== undefined && user.quotas.isOf(user.routePlace, places[0])
    const others = isOfRoute ? 1 : (user.routePlace ?? user.quotas.policies)
    if (world.plan.application.cluster?.sharded && places.length < others)
      fail('all or nothing', 'the keys of one shard are decided separately')
    tell(
      'store',
      () => `${result.admitted ? 'admits' : 'refuses'} ${costs(charges)} of ${user.name}`,
    )
    const limits = limitsOf(world, user, places, charges)
    const parts = charges.map((charge, i) => ({
      charge,
      place: places[i] as number,
      limit: limits[i] as number,
      holdMs: user.holds?.[places[i] as number],
      isDry: world.shares.isDry(charge),
      said: result.outcomes[i] as Outcome,
    }))
    const { admitted, at, outcomes } = result
    const counts = { space, ban: outcomes[places.length], isCounted: counting?.cost === 1 }
    user.audit.decided({ parts, admitted, at, transaction, ...counts })
  }
}

function learnChange(
  world: World,
  user: User,
  { places, records, space, sentAt }: Asked,
  change: Change,
  { result }: { result: unknown },
  now: number,
  transaction: number,
): void {
  const { bySlot, fail, tell } = world
  const { audit, name } = user
  const placeOf = (i: number) => places[i] as number
  const at = { transaction, now }
  /** What a client has of its own counts in each window and version of the policy. */
  const addOwn = (policy: number, key: string, entry: OwnEntry) => {
    for (const place of records[policy] ?? [])
      audit.add(place, key, { ...entry, ...at, isElsewhere: place !== placeOf(policy) })
  }
  if (change.kind === 'settle') {
    const { charges, chargedAt = now } = change
    tell('store', () => `settles ${costs(charges)} of ${name}`)
    checkAllowance(world, user, charges)
    const limits = limitsOf(world, user, places, charges)
    for (const [i, { key, cost: units, limit, ...charge }] of charges.entries()) {
      const charged = { chargedAt, ...claimedIn(charge.claim, limit) }
      const isOther = world.otherAnchors?.has(limit)
      const holdMs = user.holds?.[placeOf(i)]
      const entry = { kind: 'settle', ...at, units, ...charged, isOther, holdMs } as const
      audit.add(placeOf(i), key, entry, limits[i] as number)
    }
  } else if (change.kind === 'renew') {
    const { requests } = change
    tell('store', () => `renews the slots of ${requests.length} requests of ${name}`)
    for (const charges of requests) {
      for (const [i, { key, claim }] of charges.entries()) {
        const [slot] = claim ?? []
        if (slot === undefined) continue
        const { overAt = Infinity } = bySlot.get(slot) ?? {}
        if (sentAt > overAt + world.plan.application.deadline)
          fail('renewal', `${name} renews a slot that was given back`)
        const holdMs = user.holds?.[placeOf(i)]
        audit.add(placeOf(i), key, { kind: 'renew', ...at, slots: [slot], holdMs })
      }
    }
  } else if (change.kind === 'override') {
    const { policy, key, override } = change
    tell('store', () => `gives ${key} the limit ${override?.limit} for ${name}`)
    const { limit, until = Infinity } = override ?? {}
    addOwn(policy, key, { kind: 'override', limit, until })
  } else if (change.kind === 'grant') {
    const { policy, key } = change
    const { id, units, until } = change.grant
    tell('store', () => `adds ${units} for ${key} of ${name}: ${result}`)
    const account = audit.of(placeOf(policy), key)
    const isKnown = account.hasGrant(id, now)
    const expected = until !== undefined && until <= now ? 'ended' : isKnown ? 'known' : 'granted'
    if (result !== expected && !account.hasStepped)
      fail('top-up', `${units} of ${key} are ${result}, not ${expected}`)
    const end = until ?? account.grantEnd(now)
    if (result === 'granted') addOwn(policy, key, { kind: 'grant', id, units, until: end })
  } else {
    const { kind, key } = change
    tell('store', () => `${kind}s ${key} for ${name}`)
    const entry = kind === 'reset' ? ({ kind } as const) : { kind, until: now + change.durationMs }
    for (const place of new Set(records.flat()))
      audit.add(place, key, { ...entry, ...at, isElsewhere: !places.includes(place) })
    if (space !== undefined) audit.bans.end(space, key, { ...entry, ...at })
  }
}

/** What a process charges without a decision of the store is what it has admitted, or what that really cost. */
function checkAllowance(world: World, user: User, charges: readonly Charge[]): void {
  // What is sent twice is charged twice.
  if (user.allowance === undefined || maySendTwice(world.plan)) return
  const [{ key }] = charges as [Charge]
  const units = Math.max(0, ...charges.map(({ cost, claim }) => (claim === undefined ? cost : 0)))
  const left = (user.allowance.get(key) ?? 0) - units
  user.allowance.set(key, left)
  if (units > 0 && left < 0) world.fail('refusal', `${user.name} charges ${key} what it refused`)
}

/** What a correction claims: see core's `held/claim.ts`, and `CompiledLimit.placeOf`. */
function claimedIn(claim: Claim = [], { placeOf }: CompiledLimit) {
  if (placeOf !== undefined) return { remaining: claim[0] }
  const [slot, , reserved, ...confirmed] = claim
  return { slot, reserved, confirmed: confirmed.length > 0 ? confirmed : undefined }
}

function costs(charges: readonly Charge[]): string {
  return charges.map(({ cost, key }) => `${cost} for ${key}`).join(', ')
}
