import type { Charge, StoreResult } from '@sluice/core/store'
import { nameIn } from '../asked.ts'
import type { PlannedPolicy } from '../plan.ts'
import type { Run } from '../run.ts'
import type { Witness } from '../server.ts'
import { Account, type Entry } from './account.ts'
import { type BanSpace, Bans, type Said } from './bans.ts'

/** A charge of a request, and what was said of it. */
export interface Part {
  readonly charge: Charge
  /** The number of its policy. */
  readonly place: number
  /** The limit of the version of the application that asks. */
  readonly limit: number
  /** How long that version holds what it takes, ms. Undefined: as planned */
  readonly holdMs: number | undefined
  /** Whether the policy refuses nothing of this client. */
  readonly isDry: boolean
  readonly said: Said
}

/** A request that was decided. */
export interface Decided extends Pick<StoreResult, 'admitted' | 'at'> {
  readonly parts: readonly Part[]
  /** Whether what it is charged may be less than it has asked for. Default: false */
  readonly isCheaper?: boolean
  /** Where a ban counts it when it is refused; undefined: nowhere. */
  readonly space?: BanSpace | undefined
  /** What was said of that ban. */
  readonly ban?: Said | undefined
  /** Whether that counts it. Default: true */
  readonly isCounted?: boolean
  readonly transaction: number
}

/** A part, and what its account says of it. */
interface Known extends Part {
  readonly account: Account
  readonly policy: PlannedPolicy
  /** The limit that applies: the client's own, if it has one. */
  readonly applied: number
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
  decided(decided: Decided): void {
    const { at: now, admitted, space, ban, isCounted = true, transaction } = decided
    const parts = decided.parts.map((part): Known => {
      const { charge, place, limit, said } = part
      const account = this.of(place, charge.key)
      const applied = this.#applied(account, limit, now, said.own !== undefined)
      return { ...part, account, policy: this.#policies[place] as PlannedPolicy, applied }
    })
    for (const each of parts) this.#checkOwn(each, now)
    if (!decided.isCheaper) for (const each of parts) this.#checkLockOut(each)
    const isRefusing = ({ account, charge, applied, said }: Known) =>
      account.inexact === undefined
        ? !admits(account.remaining(applied, now), charge)
        : !said.admitted
    const refusing = new Set(parts.filter(isRefusing))
    const charges = parts.map(({ charge }) => charge)
    // What a block refuses, no ban counts, nor what a dry run would refuse.
    const counted = parts.map(
      (each) => refusing.has(each) && each.account.blockedMs(now) === 0 && !each.isDry,
    )
    const request = space && { space, charges, isCounted, transaction }
    const isBanned = request !== undefined && this.bans.decided(request, counted, ban, now)
    const isExact = () => parts.every(({ account }) => account.inexact === undefined)
    if (isExact()) {
      for (const each of parts) this.#check(each, admitted, now)
      const isRefused = [...refusing].some(({ isDry }) => !isDry)
      if (admitted !== (!isRefused && !isBanned))
        this.#run.fail('decision', `${admitted ? 'admitted' : 'refused'} ${describe(charges)}`)
    }
    if (!admitted) {
      const [first] = charges as [Charge]
      const banned = space ? [this.bans.of(space, first.key)] : []
      const all = [...parts.map(({ account }) => account), ...banned]
      const changes = all.map(({ changed }) => changed)
      this.refused.set(first, changes)
      return
    }
    const charged = parts.filter((each) => !refusing.has(each))
    for (const each of charged) this.#charge(each, transaction, now)
    // Of what refuses, its wait was checked.
    if (isExact()) for (const each of charged) this.#checkReset(each, now)
  }

  #charge(part: Known, transaction: number, now: number): void {
    const { account, charge, place, applied, holdMs, policy } = part
    const { key, cost: units, limit, claim: [slot] = [] } = charge
    const before = this.#usedOf(account, place, applied, now)
    const isOther = this.#otherAnchors?.has(limit)
    account.add({ kind: 'charge', transaction, now, units, slot, isOther, holdMs })
    this.charged[place] = (this.charged[place] as number) + units
    this.#cross(account, place, key, applied, before, now)
    this.#refusedSince.delete(account)
    const excess = units > 0 ? account.excess() : 0
    if (excess > 1e-6) this.#run.fail('bound', `${excess} more than the bound of ${policy.name}`)
  }

  #checkReset({ account, applied, said: { resetMs }, policy }: Known, now: number): void {
    const isFull = (at: number) => account.remaining(applied, at) === account.full(applied)
    const isTooLong = resetMs > 0 && account.isFullWhenEmpty && isFull(now + resetMs - 1)
    if (!isFull(now + resetMs) || isTooLong)
      this.#run.fail('reset', `${policy.name} said that it is full in ${resetMs} ms`)
  }

  /** Checks what a policy says by its definition. */
  #check(part: Known, admitted: boolean, now: number): void {
    const { account, charge, applied, said, policy } = part
    const { name } = policy
    const left = account.remaining(applied, now)
    const isAdmitted = admits(left, charge)
    const verdict = said.admitted ? 'admits' : 'refuses'
    if (said.admitted !== isAdmitted)
      this.#run.fail('decision', `${name} ${verdict} ${charge.cost} of ${left}`)
    const expected = admitted && isAdmitted ? left - charge.cost : left
    if (said.remaining !== expected)
      this.#run.fail('remaining', `${name} said ${said.remaining} of ${expected}`)
    if (!isAdmitted) this.#checkWait(part, now)
  }

  /** The limit that applies to a client, of which its account takes note. */
  #applied(account: Account, limit: number, now: number, isOwn = true): number {
    account.endReservations(now)
    const applied = account.limitAt(limit, now, isOwn)
    account.changes(limit, applied)
    return applied
  }

  /** The client's own limit decides, and no other. */
  #checkOwn({ account, policy, limit, applied, said: { own } }: Known, now: number): void {
    if (account.hasStepped || (own === undefined && account.mayNotKnow(now))) return
    const { name } = policy
    const hasOwn = account.hasOwn(now)
    if (hasOwn !== (own !== undefined))
      this.#run.fail('own limit', `${name} decides ${hasOwn ? 'without' : 'with'} an own limit`)
    if (own !== undefined && !('burst' in policy) && own.units !== applied)
      this.#run.fail('own limit', `${name} has ${own.units} of ${applied}, not ${limit}`)
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
  #checkLockOut({ account, charge, said, policy }: Known): void {
    // What others have taken by a larger limit is debt of a smaller one.
    const hasDebt = account.hasDebt || account.isMixed
    if (charge.cost > 1 || said.admitted || hasDebt || account.ownChangedAt) return
    const { now } = this.#run.timeline
    const since = this.#refusedSince.get(account) ?? now
    this.#refusedSince.set(account, since)
    if (now - since > 2 * account.longestWaitMs && !account.isBlocked)
      this.#run.fail('lock-out', `${policy.name} has refused everything for ${now - since} ms`)
  }

  /** Waiting so long is enough, and one millisecond less is not. */
  #checkWait({ account, applied, charge, said, policy }: Known, now: number): void {
    const { retryAfterMs: waitMs } = said
    const least = Math.max(charge.cost, 1)
    const blockedMs = account.blockedMs(now)
    if (account.holdsSlots || (waitMs === Infinity && least > account.full(applied))) return
    const isTrue =
      blockedMs > 0
        ? waitMs === blockedMs
        : account.remaining(applied, now + waitMs) >= least &&
          account.remaining(applied, now + waitMs - 1) < least
    if (!isTrue) this.#run.fail('wait', `${policy.name} said ${waitMs} ms for ${charge.cost}`)
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
