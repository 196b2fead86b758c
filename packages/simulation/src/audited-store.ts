import { createHash } from 'node:crypto'
import type { Charge, Ledger, Store, StoreResult, TransactionalBackend } from '@sluice/core/store'
import { groupOf, tagOf } from './cluster.ts'
import type { Core } from './core.ts'
import { maySendTwice } from './plan.ts'
import type { Quotas } from './quotas.ts'
import type { World } from './world.ts'

/** A call of a ledger, which the audit learns of when the store runs its script. */
interface Asked {
  readonly method: string
  readonly given: readonly unknown[]
  /** The numbers of the ledger's policies among those of the limiter. */
  readonly places: readonly number[]
  /** ms of the simulation. */
  readonly sentAt: number
}

/** The process that uses the store. */
export interface User {
  readonly name: string
  readonly quotas: Quotas
  /** The limit of each quota. */
  readonly limits: readonly number[]
  /** The limits of requests, by what core has made of them. Left out: as planned */
  readonly limitOf?: WeakMap<object, number>
  /** The number of the policy of a route that counts separately. Left out: there is none */
  readonly routePlace?: number | undefined
  /** Units that it may charge without a decision of the store: by key. Undefined: any, since it settles. */
  readonly allowance: Map<string, number> | undefined
}

/**
 * Core's store on the simulated server. Whenever a script runs there, the audit learns what it was asked and
 * what it said.
 */
export function auditedStore(
  core: Core,
  transact: TransactionalBackend['transact'],
  user: User,
  world: World,
): Store<'async'> {
  const { joins, cluster } = world.plan.application
  /** What is being asked of a ledger; undefined: the store asks something by itself. */
  let asked: Asked | undefined
  const sent = joins ? core.joinTransactions(borrowing(core, transact)) : transact
  const store = core.transactionalStore({
    transact(keys, decide, withinMs) {
      const own = asked
      return sent(
        keys,
        (...given) => {
          const decided = decide(...given)
          if (own !== undefined)
            learn(world, user, own, decided.value, given[1], world.cluster.transactions.last)
          return decided
        },
        withinMs,
      )
    },
  })
  const open: Store<'async'>['open'] = (...opened) => {
    const [{ policies }, prefix] = opened
    const { keyspaces } = world.audit
    const { quotas, routePlace } = user
    const isOfRoute = routePlace !== undefined && prefix.endsWith(SCOPE)
    const common = routePlace ?? quotas.policies
    const first = isOfRoute ? routePlace : 0
    if (isOfRoute || policies.length === common)
      for (const [i, { name }] of policies.entries()) {
        const place = quotas.named(first + i, name)
        if (place >= 0) keyspaces[place] = [prefix, name]
      }
    const places = policies.map(({ name }) =>
      keyspaces.findIndex((known) => known?.[0] === prefix && known[1] === name),
    )
    return new Proxy(store.open(...opened), {
      get: (ledger, name) => {
        if (name === 'shard' && cluster !== undefined)
          return (key: string) => groupOf(tagOf(key) || key)
        const member: unknown = ledger[name as keyof Ledger<'async'>]
        if (typeof member !== 'function') return member
        return (...given: unknown[]) => {
          asked = { method: String(name), given, places, sentAt: world.timeline.now }
          const answer: unknown = member.apply(ledger, given)
          asked = undefined
          return answer
        }
      },
    })
  }
  return { ...store, open }
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

/** The methods that charge, or change what was charged. */
const CHARGES: readonly string[] = ['consume', 'consumeAll', 'settle', 'renew']

/** What a call does to the accounts. A method that is not here changes none. */
function learn(
  world: World,
  user: User,
  { method, given, places, sentAt }: Asked,
  value: unknown,
  now: number,
  transaction: number,
): void {
  const { audit, bySlot, fail, tell } = world
  const { name } = user
  // A window that no request has had is not counted.
  if (places.includes(-1) && (!user.quotas.vary || CHARGES.includes(method))) {
    fail('route', `${name} counts by other keys than those of its routes`)
    return
  }
  const limitsOf = (charges: readonly Charge[]) =>
    places.map((place, i) => {
      const limit = charges[i]?.limit
      const quota = user.quotas.all[place]
      const { windowMs } = limit?.params ?? {}
      if (quota && 'windows' in quota && quota.windows && windowMs && windowMs !== quota.window)
        fail(
          'window',
          `${name} counts a request with a window of ${windowMs} ms by ${quota.window}`,
        )
      return ((limit && user.limitOf?.get(limit)) ?? user.limits[place]) as number
    })
  const placeOf = (i: number) => places[i] as number
  type Arguments<Method extends keyof Ledger> = Parameters<NonNullable<Ledger[Method] & object>>

  if (method === 'consume' || method === 'consumeAll') {
    const [asked] = given as Arguments<'consumeAll'>
    const requests = method === 'consumeAll' ? asked : [asked as unknown as readonly Charge[]]
    for (const [i, charges] of requests.entries()) {
      const result = (value as (StoreResult | Error)[])[i] as StoreResult | Error
      if (result instanceof Error) {
        fail('readable', `the store could not decide: ${result.message}`)
        continue
      }
      const isOfRoute =
        user.routePlace !== undefined && user.quotas.isOf(user.routePlace, places[0])
      const others = isOfRoute ? 1 : (user.routePlace ?? user.quotas.policies)
      if (world.plan.application.cluster?.sharded && places.length < others)
        fail('all or nothing', 'the keys of one shard are decided separately')
      tell('store', () => `${result.admitted ? 'admits' : 'refuses'} ${costs(charges)} of ${name}`)
      audit.decided(charges, limitsOf(charges), result.outcomes, result, transaction, places)
    }
  } else if (method === 'settle') {
    const [charges, chargedAt = now] = given as Arguments<'settle'>
    tell('store', () => `settles ${costs(charges)} of ${name}`)
    checkAllowance(world, user, charges)
    const limits = limitsOf(charges)
    for (const [i, { key, cost: units, slot, reserved, remaining, limit }] of charges.entries()) {
      const charged = { chargedAt, slot, reserved, remaining }
      const entry = { kind: 'settle', transaction, now, units, ...charged } as const
      const isOther = world.otherAnchors?.has(limit)
      audit.add(placeOf(i), key, { ...entry, isOther }, limits[i] as number)
    }
  } else if (method === 'renew') {
    const [requests] = given as Arguments<'renew'>
    tell('store', () => `renews the slots of ${requests.length} requests of ${name}`)
    for (const charges of requests) {
      for (const [i, { key, slot }] of charges.entries()) {
        if (slot === undefined) continue
        const { overAt = Infinity } = bySlot.get(slot) ?? {}
        if (sentAt > overAt + world.plan.application.deadline)
          fail('renewal', `${name} renews a slot that was given back`)
        audit.add(placeOf(i), key, { kind: 'renew', transaction, now, slots: [slot] })
      }
    }
  } else if (method === 'override') {
    const [policy, key, , override] = given as Arguments<'override'>
    tell('store', () => `gives ${key} the limit ${override?.limit} for ${name}`)
    const { limit, until = Infinity } = override ?? {}
    if (placeOf(policy) < 0) return
    audit.add(placeOf(policy), key, { kind: 'override', transaction, now, limit, until })
  } else if (method === 'grant') {
    const [policy, key, , { id, units, until }] = given as Arguments<'grant'>
    tell('store', () => `adds ${units} for ${key} of ${name}: ${value}`)
    const account = audit.of(placeOf(policy), key)
    const isKnown = account.hasGrant(id, now)
    const expected = until !== undefined && until <= now ? 'ended' : isKnown ? 'known' : 'granted'
    if (value !== expected && !account.hasStepped)
      fail('top-up', `${units} of ${key} are ${value}, not ${expected}`)
    const end = until ?? account.grantEnd(now)
    if (value === 'granted')
      audit.add(placeOf(policy), key, { kind: 'grant', transaction, now, id, units, until: end })
  } else if (method === 'block' || method === 'reset') {
    const [key, durationMs] = given as Arguments<'block'>
    tell('store', () => `${method}s ${key} for ${name}`)
    for (const i of places) {
      if (i < 0) continue
      if (method === 'reset') audit.add(i, key, { kind: 'reset', transaction, now })
      else audit.add(i, key, { kind: 'block', transaction, now, until: now + durationMs })
    }
  }
}

/** What a process charges without a decision of the store is what it has admitted, or what that really cost. */
function checkAllowance(world: World, user: User, charges: readonly Charge[]): void {
  // What is sent twice is charged twice.
  if (user.allowance === undefined || maySendTwice(world.plan)) return
  const [{ key }] = charges as [Charge]
  const units = Math.max(0, ...charges.map(({ cost, slot }) => (slot === undefined ? cost : 0)))
  const left = (user.allowance.get(key) ?? 0) - units
  user.allowance.set(key, left)
  if (units > 0 && left < 0) world.fail('refusal', `${user.name} charges ${key} what it refused`)
}

function costs(charges: readonly Charge[]): string {
  return charges.map(({ cost, key }) => `${cost} for ${key}`).join(', ')
}
