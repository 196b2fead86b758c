import type { Decision, PolicyDecision, ThresholdEvent } from '@sluice/core'
import type { Charge } from '@sluice/core/store'
import type { HttpLimiter, RoutedLimiter } from '@sluice/http/adapter'
import { auditedStore } from './audited-store.ts'
import { CalledLimiters } from './called-limiters.ts'
import { type Account, limitOf } from './checks/account.ts'
import { Audit } from './checks/audit.ts'
import type { BanSpace } from './checks/bans.ts'
import { checkDeadline } from './checks/deadline.ts'
import { checkVerdict, rulingOf } from './checks/exemptions.ts'
import { InForce } from './checks/in-force.ts'
import { Lines } from './checks/lines.ts'
import { Connection } from './connection.ts'
import type { Core } from './core.ts'
import type { Terms } from './documents.ts'
import { adapter, costOf, Exchange, type Reply, type Waited } from './exchange.ts'
import { FetchExchange, fetchAdapter } from './fetch-exchange.ts'
import { Machine } from './machine.ts'
import { optionsOf, settlesOf, shareOf, shareOfUnits } from './options.ts'
import {
  type DocumentFault,
  type Fault,
  holdOf,
  inVersion,
  isCall,
  isOfOperator,
  maySendTwice,
  type PlannedBan,
  type PlannedPolicy,
  type PlannedRequest,
  type PlannedVersion,
} from './plan.ts'
import { operate } from './policy-operator.ts'
import type { Quotas } from './quotas.ts'
import { SOCKETS } from './timeline.ts'
import type { World } from './world.ts'

/** How long a process remembers what another one has changed meanwhile, ms: 2 s, and a call. */
const ASKED_AGAIN_MS = 2500

/** A process of the application: its machine, its connection to the store, and its limiter. */
export class Process {
  readonly name: string
  readonly machine: Machine
  readonly connection: Connection
  readonly quotas: Quotas
  /** The limit of each quota. */
  readonly limits: readonly number[]
  /** How long each quota holds what it is charged, ms. */
  readonly holds: readonly number[]
  /** The quotas that requests have used. */
  readonly #used = new Set<number>()
  /** The limits of requests, by what core has made of them. */
  readonly limitOf = new WeakMap<object, number>()
  /** The keys of its clients for each policy, as the store knows them. */
  readonly keys = new Map<string, readonly string[]>()
  /** Units of the requests that each policy has admitted. */
  readonly admitted: number[]
  readonly allowance = new Map<string, number>()
  /** The requests that the store has decided. */
  readonly once = new WeakSet<readonly Charge[]>()
  /** Requests that are not over. */
  readonly exchanges = new Set<Exchange>()
  /** Requests that policies have admitted. */
  readonly allowed: Exchange[] = []
  /** Whether the keys of a request are decided one by one. */
  readonly #decidesApart: boolean
  /** Requests of which some parts may be decided. */
  readonly #undecided = new Set<Exchange>()
  /** Whether no client comes any more. */
  isQuiet = false
  /** When it got its last request that is limited, ms of the simulation. */
  #askedAt = -Infinity
  /** What decided last, by client. */
  readonly lastSources = new Map<string, Decision['source']>()
  readonly audit: Audit
  /** What it admits by itself, by the definitions. */
  readonly local: Audit
  /** The thresholds that it has reported: policy, key, threshold and time. */
  readonly #told = new Set<string>()
  readonly #http: RoutedLimiter<Exchange, Reply>
  /** The number of the policy of the route that counts separately; undefined: there is none. */
  readonly routePlace: number | undefined
  /** Where its limiter counts what it refuses, and where that route does; undefined: nowhere. */
  readonly bans: { readonly common: BanSpace; readonly route: BanSpace } | undefined
  /** How requests wait for their turns, by limiter; none: they do not. */
  readonly #lines: Lines[] = []
  /** What is in force of its policies. */
  readonly inForce: InForce
  /** The limiters that the application calls itself. */
  readonly called: CalledLimiters
  readonly core: Core
  readonly world: World
  #handling: Exchange | undefined

  /** @param version in what its version of the application differs */
  constructor(world: World, name: string, version: PlannedVersion) {
    const { plan, audit } = world
    const { application } = plan
    const { limit, hold, enforce, isFixed } = version
    const quotas = world.quotas.all.map((each) =>
      inVersion(each, { limit, hold, enforce, ...(isFixed && { isFixed }) }),
    )
    const policies = application.policies.map((each) => inVersion(each, version))
    this.quotas = world.quotas.inVersion(version)
    this.#decidesApart = application.cluster?.sharded === false
    this.world = world
    this.audit = audit
    this.name = name
    this.limits = quotas.map(limitOf)
    this.holds = quotas.map(holdOf)
    this.admitted = quotas.map(() => 0)
    const routePlace = policies.findIndex(({ isOfRoute }) => isOfRoute)
    this.routePlace = routePlace < 0 ? undefined : routePlace
    const { ban, routeBan = ban } = application
    const quota = this.quotas.of(0, undefined)
    this.bans = ban && {
      common: spaceOf(ban, quota),
      route: spaceOf(routeBan as PlannedBan, quota),
    }
    this.machine = new Machine(world, name, world.random(`${name} machine`), plan.epoch)
    this.connection = new Connection(world, this.machine, world.random(`${name} network`))
    this.core = world.loadCore(this.machine)
    const shares = quotas.map((each) => shareOf(each, application.localShare))
    this.local = new Audit(shares, world, false, world.otherAnchors)
    this.inForce = new InForce(this, policies)
    const store = auditedStore(this, this)
    this.called = new CalledLimiters(this, hold)
    const options = optionsOf(plan, policies, this.routePlace, store, {
      threshold: (event) => this.#threshold(event),
      decision: (exchange, decision) => this.#decided(exchange, decision),
    })
    const own = application.isFetch ? fetchAdapter(this.core) : adapter
    this.#http = new this.core.RoutedLimiter(options, own)
    for (const { limiter } of this.#http.httpLimiters) this.#noteCharges(limiter)
  }

  /** A request arrives. */
  arrive(planned: PlannedRequest): void {
    this.machine.post(0, SOCKETS, () => {
      if (isCall(planned)) this.called.call(planned)
      else this.#handle(planned)
    })
  }

  /** What an operator, or a client that looks, asks of the limiter. */
  get limiter() {
    return this.#http.base.limiter
  }

  /** The limiter of the route that counts separately, if there is one. */
  get routeLimiter() {
    return [...this.#http.httpLimiters].find(({ scope }) => scope !== '')?.limiter
  }

  /** It ends at once: `kill -9`. */
  kill(): void {
    this.machine.isDead = true
    for (const exchange of this.exchanges) exchange.overAt ??= this.world.timeline.now
    this.exchanges.clear()
  }

  /** It ends after its requests have been answered, and closes its limiter. */
  leave(): void {
    this.endAll()
    this.machine.isLeaving = true
    this.#http.limiter.close()
    this.called.close()
    for (const each of this.#lines) this.world.timeline.after(1, () => each.checkClosed())
    this.kill()
  }

  /** The application ends all responses that it has begun; their clients have read them. */
  endAll(): void {
    for (const exchange of [...this.exchanges])
      if (!this.#lines.some((each) => each.isInLine(exchange))) this.end(exchange)
    this.called.endAll()
  }

  stepClock(ms: number): void {
    this.machine.skewMs += ms
    this.local.clockStepped()
  }

  /** An operator makes a client's quota full, or blocks it. @param ms how long; undefined: it is not blocked */
  endCount(client: string, ms?: number): void {
    const [key] = this.keys.get(client) ?? []
    if (key === undefined) return
    const { audit, fail, timeline } = this.world
    const { limiter } = this.#http
    this.machine.post(0, SOCKETS, () => {
      this.#forget(key)
      const now = this.machine.now()
      if (ms !== undefined)
        for (const i of this.limits.keys()) {
          const isElsewhere = i >= this.quotas.policies && !this.#used.has(i)
          const block = { kind: 'block', transaction: 0, now, until: now + ms } as const
          this.local.add(i, key, { ...block, isElsewhere })
        }
      this.#endBans(key, ms === undefined ? 'reset' : 'block')
      const blocked = this.quotas.vary && ms !== undefined ? [...this.#used] : []
      const askedAt = timeline.now
      const done = ms === undefined ? limiter.reset(key) : limiter.block(key, ms)
      this.#confirmed(done, () => {
        for (const i of blocked)
          if (audit.of(i, key).blockedAt < askedAt)
            fail('operator', `${key} is not blocked in quota ${i}`)
      })
      this.called.end(client, ms)
    })
  }

  /** An operator blocks a network, or ends that. */
  blockNetwork({ kind, network, ms = 0 }: Extract<Fault, { network: string }>): void {
    const { limiter } = this
    const { networks } = this.world
    this.machine.post(0, SOCKETS, () => {
      const done =
        kind === 'block network'
          ? limiter.block(network, ms, { network: true })
          : limiter.reset(network, { network: true })
      networks.changes(network, kind === 'block network' ? ms : 0, Promise.resolve(done))
    })
  }

  /** An operator changes the settings of its policies. */
  operate(fault: DocumentFault): void {
    operate(fault, this, this.#http.limiter.policies)
  }

  /** An operator gives a client a limit of its own, or a top-up. */
  setOwnLimit(given: Extract<Fault, { kind: 'override' | 'grant' }>): void {
    const key = this.keys.get(given.client)?.[given.policy]
    const policy = this.quotas.all[this.quotas.of(given.policy, undefined)]?.name
    if (key === undefined || policy === undefined) return
    const world = this.world
    const { limiter } = this
    this.machine.post(0, SOCKETS, () => {
      const { units, ms } = given
      const askedAt = world.timeline.now
      const until = ms === undefined ? {} : { until: this.machine.now() + ms }
      const place = this.quotas.of(given.policy, given.window)
      const { windows, window = 0 } = this.quotas.all[place] as {
        windows?: object
        window?: number
      }
      const inWindow = windows && { window }
      const id = 'id' in given ? { id: given.id } : {}
      const done =
        given.kind === 'grant'
          ? limiter.grant(key, units as number, { policy, ...until, ...id, ...inWindow })
          : limiter.override(key, { policy, limit: units, ...until, ...inWindow })
      this.#confirmed(done, () => {
        const { ownChangedAt = -Infinity } = world.audit.of(place, key)
        if (given.kind === 'override' && ownChangedAt < askedAt)
          world.fail('operator', `${key} has no own limit of ${units} in quota ${place}`)
      })
    })
  }

  /** Checks what an operator's call has done, once the store has confirmed it, and if nothing can have undone it. */
  #confirmed(done: unknown, check: () => void): void {
    const isQuiet = this.world.plan.faults.every((each) => isOfOperator(each))
    Promise.resolve(done)
      .then(() => isQuiet && check())
      .catch(() => {})
  }

  /** A client has no limit of its own any more, in no window. Its top-ups last. */
  async endOverrides(key: string): Promise<void> {
    // One after the other: only so many calls may wait for the store.
    for (const each of this.quotas.all) {
      if (each.isOfRoute) continue
      const inWindow = 'windows' in each && each.windows && { window: each.window }
      const own = { policy: each.name, limit: null, ...inWindow }
      await Promise.resolve(this.limiter.override(key, own)).catch(() => {})
    }
  }

  #handle(planned: PlannedRequest, waited?: Waited): void {
    const world = this.world
    const { timeline, plan } = world
    const exchange = plan.application.isFetch
      ? new FetchExchange(planned, { timeline, machine: this.machine, core: this.core }, waited)
      : new Exchange(planned, timeline.now, waited)
    const reply = exchange instanceof FetchExchange ? exchange.reply : exchange
    exchange.askedBefore = this.#askedAt
    exchange.ruling = rulingOf(exchange, plan.application)
    if (exchange.ruling === undefined) this.#askedAt = world.timeline.now
    this.exchanges.add(exchange)
    world.tell(this.name, () => `gets a request of ${planned.client} for ${planned.cost}`)
    this.#handling = exchange
    const handled = this.#http.handle(exchange, reply)
    this.#handling = undefined
    Promise.resolve(handled).then(
      (goesOn) => this.#goOn(exchange, goesOn),
      (error) => this.world.fail('escaped', `${this.name}: ${error}`),
    )
    const { leavesMs } = planned
    if (leavesMs !== undefined) {
      this.machine.post(leavesMs, SOCKETS, () => {
        if (exchange.isClosed) return
        world.tell(planned.client, () => 'hangs up')
        exchange.leave()
        for (const each of this.#lines)
          this.machine.post(0, SOCKETS, () => each.checkGone(exchange))
      })
    }
  }

  /** The application works on the request; or it was refused, and comes again after `retryAfterMs`. */
  #goOn(exchange: Exchange, goesOn: boolean): void {
    const { planned, decision } = exchange
    const { workMs, retries = 0 } = planned
    const { plan, fail } = this.world
    checkVerdict(exchange, goesOn, plan.application, fail)
    if (goesOn) {
      exchange.begin()
      if (workMs !== undefined) this.machine.post(workMs, SOCKETS, () => this.end(exchange))
      return
    }
    this.end(exchange)
    const waitMs = decision?.retryAfterMs ?? Infinity
    if (decision?.allowed || retries === 0 || waitMs > 600_000 || this.isQuiet) return
    const waited = this.#waitedSince(exchange, decision as Decision)
    this.machine.post(waitMs, SOCKETS, () => {
      if (!this.isQuiet) this.#handle({ ...planned, retries: retries - 1 }, waited)
    })
  }

  /** The accounts that the store has of a request. */
  #accountsOf({ charges, places }: Exchange): Account[] {
    return charges.map(({ key }, i) => this.audit.of(places[i] as number, key))
  }

  /** What must not change while a client waits, so that it is admitted then. */
  #waitedSince(exchange: Exchange, { at, retryAfterMs, source }: Decision): Waited {
    const { audit, plan } = this.world
    const { charges, terms } = exchange
    const changes = audit.refused.get(charges[0] as Charge) ?? []
    const accounts = this.#accountsOf(exchange)
    // It comes again a little later than that.
    const endsAt = at + retryAfterMs + plan.application.deadline
    const isKnown =
      source === 'store' &&
      !plan.faults.some(({ kind }) => kind.endsWith('clock')) &&
      accounts.every((each) => !each.holdsSlots && !each.isBlocked && !each.hasOwnUntil(at, endsAt))
    return { changes: isKnown ? changes : [], terms }
  }

  /** A client that is alone, and has waited for `retryAfterMs`, is admitted. */
  #checkPatience(exchange: Exchange, { allowed, source }: Decision): void {
    const { waited, charges } = exchange
    if (allowed || waited === undefined || source === 'local' || source === 'deny') return
    const { audit, fail } = this.world
    const accounts = this.#accountsOf(exchange)
    const space = this.#spaceOf(exchange)
    const banned = space ? [audit.bans.of(space, (charges[0] as Charge).key)] : []
    const changes = [...accounts, ...banned].map(({ changed }) => changed)
    if (JSON.stringify(waited.terms) !== JSON.stringify(exchange.terms)) return
    if (waited.changes.length > 0 && waited.changes.every((each, i) => each === changes[i]))
      fail('patience', `${exchange.planned.client} waited for retryAfterMs, and is refused`)
  }

  /** The application ends the response. */
  end(exchange: Exchange): void {
    exchange.end(this.world.timeline.now)
    if (exchange.isClosed) this.exchanges.delete(exchange)
  }

  #decided(exchange: Exchange, decision: Decision): void {
    const world = this.world
    const { name } = this
    const { source, allowed, remaining, retryAfterMs } = decision
    const { client, cost } = exchange.planned
    world.tell(name, () => {
      const verdict = allowed ? `admits` : `refuses`
      return `${verdict} ${client}'s ${cost} (${source}; ${remaining} left, wait ${retryAfterMs} ms)`
    })
    exchange.decision = decision
    this.#undecided.delete(exchange)
    if (exchange.ruling !== undefined) return
    this.lastSources.set(client, source)
    if (allowed) this.#allow(exchange)
    for (const [i, place] of exchange.places.entries())
      if (allowed && madeBy(decision, i)) this.admitted[place]! += cost
    checkDeadline(this, exchange)
    if (allowed) world.networks.checkAdmitted(this.machine, client, exchange.askedBefore)
    world.shares.checkDecided(exchange, decision, world.networks.mayBlock(client))
    this.#checkThresholds(exchange, decision)
    for (const each of this.#lines) each.checkRefused(exchange, decision)
    // What is said after a wait in vain counts those who still wait.
    if (exchange.hasWaited && !allowed) return
    this.#checkPatience(exchange, decision)
    this.#checkBan(exchange, decision)
    if (source === 'cache') this.#checkRemembered(exchange, decision)
    else this.#checkLocal(exchange, decision)
  }

  /** Where a ban counts the refusal of a request. */
  #spaceOf({ planned }: Exchange): BanSpace | undefined {
    return this.bans?.[planned.route === 'own' ? 'route' : 'common']
  }

  /** The decision shows the ban of its client, by the store or by the process. */
  #checkBan(exchange: Exchange, { ban, source, at, allowed, policies }: Decision): void {
    const space = this.#spaceOf(exchange)
    if (space === undefined || exchange.charges.length === 0 || policies.length === 0) return
    const { audit, cluster, timeline, troubledUntil, plan } = this.world
    const [{ key }] = exchange.charges as [Charge]
    if (source === 'store') audit.bans.checkShown(exchange.charges, ban)
    if (source === 'cache')
      audit.bans.checkRemembered(space, key, ban, {
        now: cluster.clockOf(key),
        since: timeline.now > troubledUntil ? timeline.now - ASKED_AGAIN_MS : -Infinity,
        callMs: plan.application.deadline,
      })
    // In a queue, lack of a place to wait looks like a refusal.
    const { policies: planned, waits } = plan.application
    // A ban counts a refusal before a wait, which is no decision.
    const isPlain = waits === undefined && planned.every((each) => !('maxDelay' in each))
    // Where windows differ, decisions of one moment are reported in another order than they were made.
    if (source !== 'local' || this.#decidesApart || !isPlain || this.quotas.vary) return
    const isRefused = policies.some(
      (each, i) =>
        each.key === key &&
        !each.allowed &&
        !each.dryRun &&
        this.local.of(exchange.places[i] as number, key).blockedMs(at) === 0,
    )
    const counts = ban === undefined ? !allowed && isRefused : ban.began
    this.local.bans.decidedAlone(space, key, counts, ban, at)
  }

  /** A charge has brought what a client has used to a share of its limit. */
  #threshold({ policy, key, threshold, at, source }: ThresholdEvent): void {
    const { tell, audit, plan } = this.world
    tell(this.name, () => `tells that ${key} has reached ${threshold} of ${policy} (${source})`)
    this.#told.add(`${policy} ${key} ${threshold} ${at}`)
    const holdsSlots = plan.application.policies.some(
      (each) => each.name === policy && 'hold' in each,
    )
    // A slot that is taken again by the same request is in use once, but its answer shows it twice.
    if (holdsSlots && maySendTwice(plan)) return
    if (source === 'store') audit.crossed(policy, key, threshold, at)
  }

  /** Each threshold that a request has crossed was reported before it goes on. */
  #checkThresholds(exchange: Exchange, { allowed, policies }: Decision): void {
    const { charges, places } = exchange
    // A document that came meanwhile may have others.
    if (!allowed || exchange.knownBefore !== this.inForce.learned) return
    for (const [i, each] of policies.entries()) {
      const { name, key, limit, remaining, at, source } = each
      const used = limit - remaining
      const before = used - (charges[i]?.cost ?? 0)
      const planned = this.quotas.all[places[i] as number] as PlannedPolicy
      // The limit of a queue, and of a process that decides alone, is not what it holds.
      if ('maxDelay' in planned || source !== 'store' || !each.allowed) continue
      for (const threshold of exchange.terms[i]?.alertAt ?? []) {
        const level = threshold * limit
        if (before < level && used >= level && !this.#told.has(`${name} ${key} ${threshold} ${at}`))
          this.world.fail(
            'threshold',
            `nobody told that ${key} has reached ${threshold} of ${name}`,
          )
      }
    }
  }

  /** What was admitted may be charged once more than it was: by a probe, and when its cost is known. */
  #allow(exchange: Exchange): void {
    const { charges, planned } = exchange
    this.allowed.push(exchange)
    for (const key of new Set(charges.map((each) => each.key))) {
      const more = planned.cost + planned.actual
      this.allowance.set(key, (this.allowance.get(key) ?? 0) + more)
    }
  }

  /** A remembered refusal is what the store would say. */
  #checkRemembered(exchange: Exchange, { allowed, retryAfterMs, ban }: Decision): void {
    const { cluster, fail, plan, timeline, troubledUntil } = this.world
    const { charges } = exchange
    if (allowed) fail('cache', 'a remembered refusal admits')
    if (plan.application.policies.some(settlesOf)) return
    // While the store fails, a ban refuses whatever else is not known.
    if (ban !== undefined && timeline.now <= troubledUntil) return
    if (this.world.networks.mayBlock(exchange.planned.client)) return
    const accounts = this.#accountsOf(exchange)
    if (accounts.some(({ isTouched, inexact }) => isTouched || inexact !== undefined)) return
    // Another process may have changed the client's own limit; while the store fails, for longer.
    const since = timeline.now - ASKED_AGAIN_MS
    const isKnown = ({ ownChangedAt = -Infinity }: Account) =>
      ownChangedAt < since && (ownChangedAt === -Infinity || timeline.now > troubledUntil)
    if (!accounts.every(isKnown)) return
    for (const [i, account] of accounts.entries()) {
      // The store counts whole milliseconds.
      const now = cluster.clockOf(charges[i]?.key as string) - 1
      const limit = account.limitAt(this.limitOf.get(charges[i]?.limit as object) as number, now)
      const least = Math.max(1, charges[i]?.cost ?? 1)
      const isBanned = ban !== undefined && charges[i]?.key === charges[0]?.key
      if (!isBanned && account.remaining(limit, now) > 0)
        fail('cache', 'a refusal is remembered that no longer holds')
      const isDry = this.world.shares.isDry(charges[i] as Charge)
      const isNever = isDry || (retryAfterMs === Infinity && account.full(limit) < least)
      if (!isNever && account.remaining(limit, now + 1 + retryAfterMs) < least)
        fail('cache', `${retryAfterMs} ms are too short`)
    }
  }

  /** What this process decides alone is within its share. */
  #checkLocal(exchange: Exchange, decision: Decision): void {
    const { charges, places } = exchange
    const world = this.world
    const { local } = this
    const { application } = world.plan
    const { policies: planned, ban, onStoreError, localShare } = application
    if (onStoreError !== 'local') {
      const isExpected = ['store', onStoreError].includes(decision.source)
      if (!isExpected) world.fail('source', `${decision.source} decided`)
      return
    }
    const { allowed: admitted, policies } = decision
    const settles = planned.some(settlesOf)
    const ofShare = (limit: object) => shareOfUnits(this.limitOf.get(limit) as number, localShare)
    // What a request really costs is less than its estimate, if it is settled.
    const { actual } = exchange.planned
    // Over Fetch, one that its reader has left is settled by what it has cost so far.
    const least = application.isFetch ? costOf(actual, false) : actual
    const leastOf = (cost: number) => (settles ? Math.min(cost, least) : cost)
    const isCounted = ban === undefined && !settles && !planned.some((each) => 'hold' in each)
    for (const [i, { key }] of charges.entries()) {
      const account = local.of(places[i] as number, key)
      if (!isCounted) account.inexact ??= 'it also counts what is settled or held'
      // It charges, and gives back, in another order than that of the decisions.
      if (!exchange.isAlone && account.isBucket) account.inexact ??= 'others were decided meanwhile'
    }
    // Of a cluster, some masters may have decided, and this process in place of the others.
    const isHere = ({ source }: PolicyDecision) => source === 'local'
    const here = [...policies.keys()].filter((i) => isHere(policies[i] as PolicyDecision))
    const times = new Set(here.map((i) => policies[i]?.at as number))
    const isChecked = exchange.isAlone && (admitted || here.length === policies.length)
    for (const at of isChecked && (admitted || times.size === 1) ? times : []) {
      const together = here.filter((i) => policies[i]?.at === at)
      const parts = together.map((i) => {
        const charge = charges[i] as Charge
        const place = places[i] as number
        const said = policies[i] as PolicyDecision
        return {
          charge: { ...charge, cost: leastOf(charge.cost) },
          place,
          limit: ofShare(charge.limit),
          holdMs: this.holds[place],
          isDry: world.shares.isDry(charge),
          said: { ...said, admitted: said.allowed },
        }
      })
      // What is settled may be debt.
      const isCheaper = ban !== undefined || settles
      local.decided({ parts, isCheaper, admitted, at, transaction: 0 })
    }
    if (!admitted) return
    for (const [i, { key, cost: units, claim: [slot] = [], limit }] of charges.entries()) {
      if ((here.includes(i) && exchange.isAlone) || !madeBy(decision, i)) continue
      const now = here.includes(i) ? (policies[i] as PolicyDecision).at : this.machine.now()
      const isOther = world.otherAnchors?.has(limit)
      const holdMs = this.holds[places[i] as number]
      const entry = { transaction: 0, now, units, chargedAt: now, slot, isOther, holdMs }
      local.add(places[i] as number, key, { kind: 'settle', ...entry }, ofShare(limit))
    }
  }

  /** An operator ends what it counts alone of the refusals of a key. */
  #endBans(key: string, how: 'block' | 'reset'): void {
    // Where windows differ, a ledger that no request has used does not learn of it.
    const kind: 'block' | 'reset' | 'step' = this.quotas.vary ? 'step' : how
    const ended = { kind, transaction: 0, now: this.machine.now() } as const
    for (const space of Object.values(this.bans ?? {})) this.local.bans.end(space, key, ended)
  }

  /** What it counts alone of a key is changed by an operator. */
  #forget(key: string): void {
    for (const i of this.limits.keys()) this.local.of(i, key).step()
  }

  /**
   * Where the parts of a request are decided one by one, what it is charged here is held until all are: another
   * request of a key sees it.
   */
  #noteOverlaps(exchange: Exchange): void {
    const keys = exchange.charges.map(({ key }) => key)
    for (const other of this.#undecided) {
      if (!other.charges.some(({ key }) => keys.includes(key))) continue
      other.isAlone = false
      exchange.isAlone = false
    }
    this.#undecided.add(exchange)
  }

  /** Links each request with what it is charged: core reads the charges while it begins to handle it. */
  #noteCharges(limiter: HttpLimiter<Exchange, Reply>['limiter']): void {
    const decide = limiter.decide.bind(limiter)
    const noted = new WeakSet<readonly Charge[]>()
    const note = (charges: readonly Charge[]) => {
      const exchange = this.#handling as Exchange
      // One that waits is asked for several times.
      if (noted.has(charges)) return exchange
      noted.add(charges)
      this.#note(exchange, charges)
      return exchange
    }
    limiter.decide = (charges, ...others) => {
      note(charges)
      return decide(charges, ...others)
    }
    const { waits } = this.world.plan.application
    if (waits === undefined) return
    const lines = new Lines(this, waits)
    lines.follow(limiter, note)
    this.#lines.push(lines)
  }

  #note(exchange: Exchange, charges: readonly Charge[]): void {
    if (exchange.ruling !== undefined)
      this.world.fail('exempt', `a request of ${exchange.planned.client} is charged`)
    const first = exchange.planned.route === 'own' ? (this.routePlace as number) : 0
    exchange.charges = charges
    if (this.#decidesApart) this.#noteOverlaps(exchange)
    exchange.places = charges.map((_, i) => this.quotas.of(first + i, exchange.planned.window))
    if (this.quotas.vary) for (const place of exchange.places) this.#used.add(place)
    const keys = [...(this.keys.get(exchange.planned.client) ?? [])]
    const own = charges.map((_, i) => first + i)
    const terms = this.inForce.of(charges, own, exchange.planned.limit)
    exchange.terms = terms
    exchange.knownBefore = this.inForce.learned
    for (const [i, { key, limit }] of charges.entries()) {
      keys[first + i] = key
      if (exchange.planned.otherAnchor) this.world.otherAnchors?.add(limit)
      this.limitOf.set(limit, (terms[i] as Terms).limit)
    }
    this.keys.set(exchange.planned.client, keys)
    for (const [i, charge] of charges.entries()) {
      const place = exchange.places[i] as number
      const policy = this.quotas.all[place] as PlannedPolicy
      this.world.shares.read(policy, charge, (terms[i] as Terms).enforced)
    }
    for (const { claim: [slot] = [] } of charges) {
      if (slot !== undefined) this.world.bySlot.set(slot, exchange)
    }
  }
}

/** Whether a policy was charged what a request costs: a dry run is not, if it would refuse. */
export function madeBy({ policies }: Decision, policy: number): boolean {
  return policies[policy]?.allowed !== false
}

/** Limiters whose bans have the same window count together, if they have the same first quota. */
function spaceOf(ban: PlannedBan, quota: number): BanSpace {
  return { ban, id: `${ban.within} ${quota}` }
}
