import type { Charge, StoreResult } from '@sluice/core/store'
import { nameIn } from '../asked.ts'
import type { PlannedPolicy } from '../plan.ts'
import type { Run } from '../run.ts'
import type { Witness } from '../server.ts'
import { Account, type Entry } from './account.ts'
import { type BanSpace, Bans, type Said } from './bans.ts'

/** A request that was decided. */
export interface Decided {
  readonly charges: readonly Charge[]
  /** The limits of the version of the application that asks. */
  readonly limits: readonly number[]
  /** How long it holds what it takes, ms. Left out: as planned */
  readonly holds?: readonly number[]
  /** The numbers of the policies that the charges are for. */
  readonly places: readonly number[]
  /** Whether each policy refuses nothing of this client. */
  readonly dry: readonly boolean[]
  /** The charges that it asked for, if they are not those that count; none: they are not known. */
  readonly asked?: readonly Charge[]
  /** Where a ban counts it when it is refused; undefined: nowhere. */
  readonly space?: BanSpace | undefined
  /** Whether that counts it. Default: true */
  readonly isCounted?: boolean
  readonly transaction: number
}

/** Keeps the accounts of a counter (the store, or a process by itself), and checks what it says by them. */
export class Audit implements Witness {
  /** Where the store keeps the keys of each policy: prefix and name, once a ledger is open. */
  readonly keyspaces: (readonly [prefix: string, name: string])[] = []
  /** Units that each policy was charged, without those that were given back. */
  readonly charged: number[]
  readonly accounts = new Map<string, Account>()
  readonly bans: Bans
  readonly #policies: readonly PlannedPolicy[]
  readonly #run: Run
  /** Whether the store may be sent twice what gives back: it gives back twice then. */
  readonly #sendsTwice: boolean
  readonly #otherAnchors: WeakSet<object> | undefined
  /** Since when each account has admitted nothing that it was asked for, by true time, ms. */
  readonly #refusedSince = new Map<Account, number>()
  /** How often the accounts, and that of the ban, had changed when the charges of a request were refused. */
  readonly refused = new WeakMap<Charge, readonly number[]>()
  /** How often thresholds were crossed, and nobody has told: by policy, key, threshold and time. */
  readonly #crossings = new Map<string, number>()

  constructor(
    policies: readonly PlannedPolicy[],
    run: Run,
    sendsTwice: boolean,
    otherAnchors?: WeakSet<object>,
  ) {
    this.bans = new Bans(run)
    this.#otherAnchors = otherAnchors
    this.#policies = policies
    this.charged = policies.map(() => 0)
    this.#run = run
    this.#sendsTwice = sendsTwice
  }

  /** The account of a charge, by the number of its policy. */
  of(place: number, key: string): Account {
    const id = `${place} ${key}`
    let account = this.accounts.get(id)
    if (account === undefined) {
      account = new Account(this.#policies[place] as PlannedPolicy)
      this.accounts.set(id, account)
    }
    return account
  }

  /** The numbers of the policies with a name, which differ in their windows, or are of other versions. */
  placesNamed(name: string, isOfRoute: boolean): number[] {
    const isIt = (each: PlannedPolicy) =>
      each.name === name && (each.isOfRoute === true) === isOfRoute
    return [...this.#policies.keys()].filter((i) => isIt(this.#policies[i] as PlannedPolicy))
  }

  /**
   * Makes a change that nobody had to decide.
   * @param limit the limit of the version of the application that asks; undefined: no threshold is crossed
   */
  add(place: number, key: string, entry: Entry, limit?: number): void {
    const account = this.of(place, key)
    const { now } = entry
    if (entry.kind === 'settle') this.charged[place] = (this.charged[place] as number) + entry.units
    const applied = limit === undefined ? undefined : this.#applied(account, limit, now)
    const before = applied === undefined ? 0 : this.#usedOf(account, place, applied, now)
    account.add(entry)
    if (applied !== undefined) this.#cross(account, place, key, applied, before, now)
    if (entry.kind === 'override' || entry.kind === 'grant')
      account.ownChangedAt = this.#run.timeline.now
    if (entry.kind === 'block' && !entry.isElsewhere) account.blockedAt = this.#run.timeline.now
    this.#refusedSince.delete(account)
    if (account.isWhole && account.missing > 0 && !this.#sendsTwice)
      this.#run.fail('give back', `${account.missing} units that were never charged`)
  }

  undone(transactions: ReadonlySet<number>): void {
    this.#refusedSince.clear()
    this.bans.undone(transactions)
    for (const account of this.accounts.values()) account.undo(transactions)
  }

  /** @param name a key as the server has it */
  lost(name: string): void {
    this.bans.lost(name, nameIn)
    for (const [id, account] of this.accounts) {
      const [place, key] = id.split(' ') as [string, string]
      const [prefix, keyspace] = this.keyspaces[Number(place)] ?? ['', '']
      if (name === nameIn(prefix, key, keyspace)) account.loseCount()
      if (name === this.#recordOf(Number(place), key)) {
        account.loseOwn()
        account.ownChangedAt = this.#run.timeline.now
      }
    }
  }

  /** Where the store keeps what a client has of its own, whatever the window and the version. */
  #recordOf(place: number, key: string): string | undefined {
    const { name, isOfRoute = false } = this.#policies[place] as PlannedPolicy
    const known = this.placesNamed(name, isOfRoute).find((each) => this.keyspaces[each])
    const [prefix] = this.keyspaces[known ?? -1] ?? []
    return prefix && nameIn(prefix, key, `own:${name}`)
  }

  clockStepped(): void {
    this.bans.clockStepped()
    for (const account of this.accounts.values()) account.step()
    this.#refusedSince.clear()
  }

  /** Checks a decision, and makes its charges: all of them or, if it is refused, none. */
  decided(
    {
      charges,
      limits,
      holds = [],
      places,
      dry,
      asked = charges,
      space,
      isCounted = true,
      transaction,
    }: Decided,
    said: readonly Said[],
    { admitted, at: now }: Pick<StoreResult, 'admitted' | 'at'>,
  ): void {
    const policies = places.map((place) => this.#policies[place] as PlannedPolicy)
    const accounts = charges.map(({ key }, i) => this.of(places[i] as number, key))
    const applied = accounts.map((account, i) =>
      this.#applied(account, limits[i] as number, now, (said[i] as Said).own !== undefined),
    )
    this.#checkOwn(policies, accounts, limits, applied, said, now)
    if (asked.length > 0) this.#checkLockOut(policies, accounts, asked, said)
    const isBlocked = accounts.map((account) => account.blockedMs(now) > 0)
    const refuses = accounts.map((account, i) => {
      if (account.inexact !== undefined) return !(said[i] as Said).admitted
      return !admits(account.remaining(applied[i] as number, now), charges[i] as Charge)
    })
    // What a block refuses, no ban counts, nor what a dry run would refuse.
    const counted = refuses.map((each, i) => each && !isBlocked[i] && !dry[i])
    const isBanned =
      space !== undefined &&
      this.bans.decided({ space, charges, isCounted, transaction }, counted, {
        at: now,
        ban: said[charges.length],
      })
    if (accounts.every(({ inexact }) => inexact === undefined)) {
      this.#check(policies, accounts, charges, applied, said, admitted, now)
      const isRefused = refuses.some((each, i) => each && !dry[i])
      if (admitted !== (!isRefused && !isBanned))
        this.#run.fail('decision', `${admitted ? 'admitted' : 'refused'} ${describe(charges)}`)
    }
    if (!admitted) {
      const banned = space && this.bans.of(space, (charges[0] as Charge).key)
      const all = banned === undefined ? accounts : [...accounts, banned]
      this.refused.set(
        charges[0] as Charge,
        all.map(({ changed }) => changed),
      )
      return
    }
    for (const [i, account] of accounts.entries()) {
      if (refuses[i]) continue
      const { cost: units, claim: [slot] = [] } = charges[i] as Charge
      const place = places[i] as number
      const before = this.#usedOf(account, place, applied[i] as number, now)
      const isOther = this.#otherAnchors?.has((charges[i] as Charge).limit)
      const holdMs = holds[i]
      account.add({ kind: 'charge', transaction, now, units, slot, isOther, holdMs })
      this.charged[place] = (this.charged[place] as number) + units
      this.#cross(account, place, (charges[i] as Charge).key, applied[i] as number, before, now)
      this.#refusedSince.delete(account)
      const excess = units > 0 ? account.excess() : 0
      if (excess > 1e-6)
        this.#run.fail('bound', `${excess} more than the bound of ${policies[i]?.name}`)
    }
    if (accounts.some(({ inexact }) => inexact !== undefined)) return
    for (const [i, account] of accounts.entries()) {
      // Of what refuses, its wait was checked.
      if (refuses[i]) continue
      const { resetMs } = said[i] as Said
      const limit = applied[i] as number
      const isFull = (at: number) => account.remaining(limit, at) === account.full(limit)
      const isTooLong = resetMs > 0 && account.isFullWhenEmpty && isFull(now + resetMs - 1)
      if (!isFull(now + resetMs) || isTooLong)
        this.#run.fail('reset', `${policies[i]?.name} said that it is full in ${resetMs} ms`)
    }
  }

  /** Checks what each policy says by its definition. */
  #check(
    policies: readonly PlannedPolicy[],
    accounts: readonly Account[],
    charges: readonly Charge[],
    limits: readonly number[],
    said: readonly Said[],
    admitted: boolean,
    now: number,
  ): void {
    for (const [i, account] of accounts.entries()) {
      const { cost } = charges[i] as Charge
      const { name } = policies[i] as PlannedPolicy
      const limit = limits[i] as number
      const { remaining, retryAfterMs, admitted: saysYes } = said[i] as Said
      const left = account.remaining(limit, now)
      const isAdmitted = admits(left, { cost })
      if (saysYes !== isAdmitted)
        this.#run.fail('decision', `${name} ${saysYes ? 'admits' : 'refuses'} ${cost} of ${left}`)
      const expected = admitted && isAdmitted ? left - cost : left
      if (remaining !== expected)
        this.#run.fail('remaining', `${name} said ${remaining} of ${expected}`)
      if (!isAdmitted) this.#checkWait(account, limit, cost, retryAfterMs, now, name)
    }
  }

  /** The limit that applies to a client, of which its account takes note. */
  #applied(account: Account, limit: number, now: number, isOwn = true): number {
    account.endReservations(now)
    const applied = account.limitAt(limit, now, isOwn)
    account.changes(limit, applied)
    return applied
  }

  /** The client's own limit decides, and no other. */
  #checkOwn(
    policies: readonly PlannedPolicy[],
    accounts: readonly Account[],
    limits: readonly number[],
    applied: readonly number[],
    said: readonly Said[],
    now: number,
  ): void {
    for (const [i, account] of accounts.entries()) {
      const { own } = said[i] as Said
      if (account.hasStepped || (own === undefined && account.mayNotKnow(now))) continue
      const { name, ...policy } = policies[i] as PlannedPolicy
      const hasOwn = account.hasOwn(now)
      if (hasOwn !== (own !== undefined))
        this.#run.fail('own limit', `${name} decides ${hasOwn ? 'without' : 'with'} an own limit`)
      const isShown = !('burst' in policy)
      if (own !== undefined && isShown && own.units !== applied[i])
        this.#run.fail('own limit', `${name} has ${own.units} of ${applied[i]}, not ${limits[i]}`)
    }
  }

  /** What is used of a quota with thresholds, units; without them, or if nobody can tell: 0. */
  #usedOf(account: Account, place: number, limit: number, now: number): number {
    const alertAt = thresholdsOf(this.#policies[place] as PlannedPolicy)
    if (alertAt === undefined || account.inexact !== undefined) return 0
    return account.full(limit) - account.remaining(limit, now)
  }

  /** Notes which thresholds a charge has crossed. */
  #cross(
    account: Account,
    place: number,
    key: string,
    limit: number,
    before: number,
    now: number,
  ): void {
    const alertAt = thresholdsOf(this.#policies[place] as PlannedPolicy)
    if (alertAt === undefined) return
    const full = account.full(limit)
    const used = this.#usedOf(account, place, limit, now)
    for (const threshold of alertAt) {
      const level = Math.ceil((Math.round(threshold * 10) * full) / 10)
      const id = `${place} ${key} ${threshold} ${now}`
      if (account.inexact !== undefined) this.#crossings.set(id, Infinity)
      else if (before < level && used >= level)
        this.#crossings.set(id, (this.#crossings.get(id) ?? 0) + 1)
    }
  }

  /** A process reports that a threshold was crossed: at most once for each crossing. */
  crossed(policy: string, key: string, threshold: number, at: number): void {
    // Quotas of several windows, and of a route, have one name.
    for (const [place, { name }] of this.#policies.entries()) {
      const id = `${place} ${key} ${threshold} ${at}`
      const known = name === policy ? (this.#crossings.get(id) ?? 0) : 0
      if (known === 0) continue
      this.#crossings.set(id, known - 1)
      return
    }
    this.#run.fail('threshold', `${threshold} of ${policy} was not crossed by ${key}`)
  }

  /** Whatever a clock does, a client that gets nothing is admitted again after two windows. */
  #checkLockOut(
    policies: readonly PlannedPolicy[],
    accounts: readonly Account[],
    charges: readonly Charge[],
    said: readonly Said[],
  ): void {
    for (const [i, account] of accounts.entries()) {
      const { cost } = charges[i] as Charge
      // What others have taken by a larger limit is debt of a smaller one.
      const hasDebt = account.hasDebt || account.isMixed
      if (cost > 1 || (said[i] as Said).admitted || hasDebt || account.ownChangedAt) continue
      const since = this.#refusedSince.get(account) ?? this.#run.timeline.now
      this.#refusedSince.set(account, since)
      const ms = this.#run.timeline.now - since
      if (ms > 2 * account.longestWaitMs && !account.isBlocked)
        this.#run.fail('lock-out', `${policies[i]?.name} has refused everything for ${ms} ms`)
    }
  }

  /** Waiting so long is enough, and one millisecond less is not. */
  #checkWait(
    account: Account,
    limit: number,
    cost: number,
    waitMs: number,
    now: number,
    name: string,
  ): void {
    const least = Math.max(cost, 1)
    const blockedMs = account.blockedMs(now)
    if (account.holdsSlots || (waitMs === Infinity && least > account.full(limit))) return
    const isTrue =
      blockedMs > 0
        ? waitMs === blockedMs
        : account.remaining(limit, now + waitMs) >= least &&
          account.remaining(limit, now + waitMs - 1) < least
    if (!isTrue) this.#run.fail('wait', `${name} said ${waitMs} ms for ${cost}`)
  }
}

/** The thresholds that a policy may have. */
function thresholdsOf({ alertAt, live }: PlannedPolicy): readonly number[] | undefined {
  return live === undefined ? alertAt : [0.5, 0.8, 1]
}

/** Whether so many units are enough. */
function admits(left: number, { cost }: Pick<Charge, 'cost'>): boolean {
  return cost <= left && left > 0
}

function describe(charges: readonly Charge[]): string {
  return charges.map(({ cost, key }) => `${cost} of ${key}`).join(', ')
}
