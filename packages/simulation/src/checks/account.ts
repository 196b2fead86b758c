import { type Admitted, oracles } from '../../../core/src/algorithms/testing/oracles.ts'
import {
  type AnchoredWindow,
  anchoredWindow,
  type CalendarName,
  windowAt,
  windowEnd,
} from '../calendars.ts'
import { holdOf, MOST_BURST, MOST_DELAY_MS, type PlannedPolicy } from '../plan.ts'
import { boundOf } from './bound.ts'

/** A top-up. */
interface Grant {
  readonly units: number
  readonly until: number
  readonly id: string
}

/** What happened to a key. Times are ms on the clock of the store or process that counts. */
export type Entry = {
  readonly transaction: number
  readonly now: number
  /** Whether its request has the other anchor of the calendar. */
  readonly isOther?: boolean | undefined
  /** How long it is held, where it is: as the version says that holds it. Left out: as planned */
  readonly holdMs?: number | undefined
  /** Whether it is about another window or version of the policy, whose count it ends: a block is that of all. */
  readonly isElsewhere?: boolean
} & (
  | { readonly kind: 'charge'; readonly units: number; readonly slot?: number | undefined }
  | {
      readonly kind: 'settle'
      readonly units: number
      readonly chargedAt: number
      readonly slot?: number | undefined
      readonly reserved?: number | undefined
      readonly remaining?: number | undefined
      readonly confirmed?: readonly number[] | undefined
    }
  | { readonly kind: 'renew'; readonly slots: readonly number[] }
  | { readonly kind: 'block'; readonly until: number }
  | { readonly kind: 'reset' }
  | OwnEntry
)

/** What a client has of its own. `limit: undefined`: that of the policy again. */
export type OwnEntry =
  | { readonly kind: 'override'; readonly limit: number | undefined; readonly until: number }
  | ({ readonly kind: 'grant' } & Grant)

/** How long a settlement is remembered at most, ms. */
export const REMEMBERED_MS = 3_900_000
/** How long a second call takes on a quiet network, ms. */
const TELL_MS = 50

/** What operators do: it is kept apart from the count. */
const OF_OPERATORS: readonly Entry['kind'][] = ['override', 'grant', 'block', 'reset']

/** An estimate that ends unless it is renewed. */
interface Reservation {
  readonly until: number
  readonly units: number
  readonly chargedAt: number
}

interface Charged {
  readonly at: number
  /** Units, as they are counted now. */
  cost: number
  /** The least of a request's real cost that was known when others were admitted. */
  least: number
}

/**
 * What one client was charged by one policy, kept as the definitions of the algorithms read: a list of all
 * that was admitted.
 */
export class Account {
  /** Why the definition can't tell any more what remains; undefined: it can. */
  inexact: string | undefined = undefined
  /** Whether something was lost, or an operator has changed it. */
  isTouched = false
  /** Whether a clock has stepped, something was lost or a reservation ended: what is given back may not be there. */
  isWhole = true
  /** Units that were given back without having been charged. */
  missing = 0
  /** Whether more was charged than was admitted. */
  hasDebt = false
  readonly slots = new Map<number, number>()
  /** How often anything has changed here. */
  changed = 0
  /** When the client's own limit was last changed, ms of the simulation; undefined: never. */
  ownChangedAt: number | undefined = undefined
  /** When an operator last blocked it, and so made its quota full, ms of the simulation. */
  blockedAt = -Infinity
  /** Whether the clock has stepped: what has ended may apply again. */
  hasStepped = false
  readonly #policy: PlannedPolicy
  /** Whether a version's limit was its burst: the burst is then that of the client's own limit. */
  #burstFollows = false
  /** Whether the own limit is from another version, which may have had another burst, or none. */
  #burstVaries = false
  #entries: Entry[] = []
  #charged: Charged[] = []
  /** What a bucket was charged, and what it was given back, in this order. */
  #flow: Admitted[] = []
  /** The estimates of each slot: one that the store is sent twice is held twice. */
  readonly #reservations = new Map<number, readonly Reservation[]>()
  /** Until when settlements are remembered, by their slots. */
  readonly #settled = new Map<number, number>()
  #blockedUntil = 0
  /** What counts, where the anchor may change. */
  #window: AnchoredWindow | undefined
  #override: { readonly limit: number; readonly until: number } | undefined
  /** Until when its window may not know what the client was given for another window: another call tells it. */
  #toldUntil = -Infinity
  #grants: Grant[] = []
  /** Units that were given back, and not there any more. */
  #slack = 0
  /** Whether it is a bucket that has drained at several rates: each request gives back what its own rate has left. */
  isMixed = false
  /** The largest limit that has counted here. */
  #largest: number

  constructor(policy: PlannedPolicy) {
    this.#policy = policy
    this.#largest = limitOf(policy)
    // A document may have changed its rate between any two requests.
    if (policy.live !== undefined) this.#mix()
  }

  /** What still would be admitted, units. The limit is the one of the application's version that asks. */
  remaining(limit: number, now: number): number {
    const policy = this.#policy
    if (this.#blockedUntil > now) return 0
    if ('hold' in policy) {
      let inUse = 0
      for (const until of this.slots.values()) if (until > now) inUse += 1
      return Math.max(0, limit - inUse)
    }
    const window = this.#window
    if (policy.anchors && window !== undefined) {
      const own = this.#charged.filter(({ at }) => at >= window.start)
      const used = now < window.end ? own.reduce((sum, { cost }) => sum + cost, 0) : 0
      return Math.max(0, limit - used)
    }
    const counted = this.isBucket ? this.#flow : this.#charged
    return Math.max(0, definitionOf(policy, limit, counted, now))
  }

  /**
   * The limit that applies at a time: the client's own, if it has one.
   * @param limit the policy's
   * @param isOwn whether the decision is by an own limit
   */
  limitAt(limit: number, now: number, isOwn = true): number {
    const override = this.#override
    if (!isOwn && this.mayNotKnow(now)) return limit
    let own = override !== undefined && override.until > now ? override.limit : limit
    for (const { units, until } of this.#topUps) if (until > now) own += units
    return own
  }

  /** Whether its window may not know yet of an own limit. */
  mayNotKnow(now: number): boolean {
    return now <= this.#toldUntil
  }

  /** Whether the client has a limit of its own, or a top-up. */
  hasOwn(now: number): boolean {
    const override = this.#override
    return (override?.until ?? 0) > now || this.#topUps.some(({ until }) => until > now)
  }

  /** Whether an own limit or a top-up ends from one time to another. */
  hasOwnUntil(from: number, to: number): boolean {
    const isEnd = ({ until }: { readonly until: number }) => until > from && until <= to
    return this.#topUps.some(isEnd) || (this.#override !== undefined && isEnd(this.#override))
  }

  /** The top-ups that apply: where there is no window, none that another version of the application has made. */
  get #topUps(): readonly Grant[] {
    return this.isBucket ? [] : this.#grants
  }

  /** Whether a top-up with this id has not ended. */
  hasGrant(id: string, now: number): boolean {
    return id !== '' && this.#grants.some((each) => each.id === id && each.until > now)
  }

  /** When a top-up ends that has no end of its own. */
  grantEnd(now: number): number {
    const { algorithm, window, calendar } = this.#policy as Extract<
      PlannedPolicy,
      { window: number }
    >
    if (calendar !== undefined) return windowEnd(calendar, now)
    return algorithm === 'fixed-window' ? (Math.floor(now / window) + 1) * window : now + window
  }

  /** What is admitted at once by a key that nobody has used, units. */
  full(limit: number): number {
    return 'hold' in this.#policy ? limit : definitionOf(this.#policy, limit, [], 0)
  }

  get isBucket(): boolean {
    return 'algorithm' in this.#policy && this.#policy.algorithm.endsWith('bucket')
  }

  get holdsSlots(): boolean {
    return 'hold' in this.#policy
  }

  /** Whether nothing is counted once the quota is full. A queue still drains then. */
  get isFullWhenEmpty(): boolean {
    return !('maxDelay' in this.#policy)
  }

  /** Whether an operator has ever blocked it. */
  get isBlocked(): boolean {
    return this.#blockedUntil > 0
  }

  /** The longest that a single unit waits after the last one was admitted, ms. */
  get longestWaitMs(): number {
    const policy = this.#policy
    return 'hold' in policy ? Infinity : policy.window + (policy.maxDelay ?? 0)
  }

  blockedMs(now: number): number {
    return Math.max(0, this.#blockedUntil - now)
  }

  /** What was reserved, and neither settled nor renewed in time, was never charged. */
  endReservations(now: number): void {
    const ended = [...this.#reservations.values()].flat().filter(({ until }) => until <= now)
    ended.sort((a, b) => a.until - b.until)
    // A bucket gets back what had not drained when the reservation ended, whenever somebody looks.
    for (const { until, units, chargedAt } of ended)
      this.#settle(this.isBucket ? until : now, -units, chargedAt)
    for (const [slot, held] of this.#reservations) {
      const rest = held.filter(({ until }) => until > now)
      // Its settlement may not know, and gives back what is charged anew later.
      if (rest.length < held.length) this.isWhole = false
      if (rest.length === 0) this.#reservations.delete(slot)
      else this.#reservations.set(slot, rest)
    }
  }

  add(entry: Entry): void {
    this.changed += 1
    this.#entries.push(entry)
    this.#apply(entry)
  }

  /** These transactions never happened. */
  undo(transactions: ReadonlySet<number>): void {
    const entries = this.#entries
    if (!entries.some(({ transaction }) => transactions.has(transaction))) return
    this.#lose()
    this.#entries = entries.filter(({ transaction }) => !transactions.has(transaction))
    for (const entry of this.#entries) this.#apply(entry)
  }

  /** The count is gone. What the client has of its own stays. */
  loseCount(): void {
    const entries = this.#entries
    this.#lose()
    this.#entries = entries.filter(({ kind }) => OF_OPERATORS.includes(kind))
    for (const entry of this.#entries) this.#apply(entry)
  }

  /** What the client has of its own is gone. The count stays. */
  loseOwn(): void {
    this.changed += 1
    this.#override = undefined
    this.#grants = []
    this.#blockedUntil = 0
    this.isTouched = true
    this.#mix()
    const others = this.#entries.filter(({ kind }) => kind !== 'override' && kind !== 'grant')
    this.#entries = others.map((each) =>
      each.kind === 'block' ? { ...each, kind: 'reset' } : each,
    )
  }

  /** Everything is gone. */
  #lose(): void {
    this.changed += 1
    this.#entries = []
    this.#override = undefined
    this.#grants = []
    this.#empty()
  }

  /** What was charged before counts no more for the bound: the clock has stepped. */
  step(): void {
    this.changed += 1
    this.#entries = this.#entries.filter(({ kind }) => kind === 'override' || kind === 'grant')
    this.#charged = []
    this.#flow = []
    this.#window = undefined
    this.#reservations.clear()
    this.isWhole = false
    this.hasStepped = true
    this.inexact ??= 'the clock stepped'
  }

  /**
   * Another limit counts here: that of another version of the application, or the client's own.
   * @param limit the policy's
   * @param applied the one that applies
   */
  changes(limit: number, applied: number): void {
    const planned = limitOf(this.#policy)
    if ('window' in this.#policy && this.#policy.burst === limit) this.#burstFollows = true
    if (limit === planned && applied === planned) return
    this.#largest = Math.max(this.#largest, applied)
    if (limit !== planned) this.isTouched = true
    this.#mix()
  }

  /** Units more than the algorithm's bound in the worst span that ends now; 0 or less where it holds. */
  excess(): number {
    const policy = this.#policy
    const charged = this.#charged
    const slack = this.#slack
    const largest = this.#largest
    if ('hold' in policy) return -1
    const { burst = 0 } = policy
    const follows = this.#burstFollows ? { ...policy, burst: undefined } : policy
    const isLive = policy.live !== undefined
    const varied = this.#burstVaries ? { ...policy, burst: Math.max(burst, largest) } : follows
    const bounded = isLive ? mostOf(policy, largest) : varied
    const last = charged.at(-1)
    let most = -Infinity
    let total = 0
    for (let i = charged.length - 1; i >= 0; i -= 1) {
      const { at, least } = charged[i] as Charged
      total += least
      const bound = boundOf(bounded, largest, (last as Charged).at - at)
      most = Math.max(most, total - slack - bound)
    }
    return most
  }

  #mix(): void {
    if (!this.isBucket) return
    this.isMixed = true
    this.inexact ??= 'the limit changed'
  }

  /** Nothing is counted any more. What the client has of its own stays. */
  #empty(): void {
    this.#charged = []
    this.#flow = []
    this.slots.clear()
    this.#reservations.clear()
    this.#settled.clear()
    this.#window = undefined
    this.#blockedUntil = 0
    this.isTouched = true
    this.isWhole = false
  }

  #apply(entry: Entry): void {
    const policy = this.#policy
    if (entry.kind === 'reset' || entry.kind === 'block') {
      if (!entry.isElsewhere) this.#empty()
      this.#blockedUntil = entry.kind === 'block' ? entry.until : 0
    } else if (entry.kind === 'override') {
      const { limit, until, isElsewhere } = entry
      if (isElsewhere) this.#burstVaries = true
      if (isElsewhere) this.#toldUntil = entry.now + TELL_MS
      this.#override = limit === undefined ? undefined : { limit, until }
      this.#largest = Math.max(this.#largest, limit ?? 0)
      // It drains at its rate meanwhile, and may be full by it.
      this.#mix()
    } else if (entry.kind === 'grant') {
      this.#grants.push(entry)
      if (entry.isElsewhere) this.#toldUntil = entry.now + TELL_MS
      this.#largest += entry.units
    } else if (this.#blockedUntil <= entry.now) {
      this.#enter(entry)
      const { holdMs = holdOf(policy) } = entry
      if ('hold' in policy) this.#applyToSlots(entry, holdMs)
      else if (policy.reserveMs !== undefined) this.#reserve(entry, holdMs)
      else if (entry.kind === 'charge') this.#charge(entry.now, entry.units, entry.units)
      else if (entry.kind === 'settle')
        this.#settle(entry.now, entry.units, entry.chargedAt, entry.remaining)
    }
  }

  /** What is charged, or corrected, begins the window of its anchor, unless one has begun. */
  #enter({ kind, now, isOther = false, ...entry }: Entry): void {
    const { anchors, calendar } = this.#policy as { anchors?: true; calendar?: CalendarName }
    if (!anchors || calendar === undefined || kind === 'renew') return
    if (kind === 'charge' && (entry as { units: number }).units === 0) return
    this.#window = anchoredWindow(calendar, isOther, now, this.#window)
  }

  #applyToSlots(
    entry: Extract<Entry, { kind: 'charge' | 'settle' | 'renew' }>,
    hold: number,
  ): void {
    const slots = entry.kind === 'renew' ? entry.slots : [entry.slot]
    for (const slot of slots) {
      if (slot === undefined || (entry.kind !== 'renew' && entry.units === 0)) continue
      if (entry.kind === 'settle' && entry.units < 0) this.slots.delete(slot)
      else this.slots.set(slot, entry.now + hold)
    }
  }

  #reserve(entry: Extract<Entry, { kind: 'charge' | 'settle' | 'renew' }>, holdMs: number): void {
    const reservations = this.#reservations
    const { now } = entry
    const until = now + holdMs
    this.endReservations(now)
    if (entry.kind === 'renew') {
      for (const slot of entry.slots) {
        const known = reservations.get(slot)?.map((each) => ({ ...each, until }))
        if (known !== undefined) reservations.set(slot, known)
      }
      return
    }
    const { units, slot = 0 } = entry
    if (entry.kind === 'charge') {
      this.#charge(now, units, units)
      const known = reservations.get(slot) ?? []
      if (units > 0) reservations.set(slot, [...known, { until, units, chargedAt: now }])
      return
    }
    const { reserved = 0, chargedAt, confirmed } = entry
    if (confirmed !== undefined) {
      // One that was sent again after its settlement is a reservation like any other.
      const isKnown = (this.#settled.get(slot) ?? 0) > now && !this.#reservations.has(slot)
      for (const each of confirmed) {
        const [again] = this.#reservations.get(each) ?? []
        if (again !== undefined) this.#settle(now, -again.units, again.chargedAt)
        this.#reservations.delete(each)
        this.#settled.delete(each)
      }
      this.#settled.set(slot, now + REMEMBERED_MS)
      if (isKnown) return
    }
    if (reserved === 0) {
      this.#settle(now, units, chargedAt)
      return
    }
    const [known] = reservations.get(slot) ?? []
    reservations.delete(slot)
    // The store may know one from before its clock has stepped, and give it back.
    if (known === undefined && this.hasStepped) this.#slack += reserved
    // What was given back meanwhile is charged now, whole.
    if (known === undefined) this.#settle(now, reserved + units, now)
    else this.#settle(now, units, units < 0 ? known.chargedAt : now)
  }

  #charge(at: number, cost: number, least: number): void {
    const charged = this.#charged
    if (this.isBucket) this.#flow.push({ at, cost })
    let i = charged.length
    while (i > 0 && (charged[i - 1] as Charged).at > at) i -= 1
    const known = charged[i - 1]
    if (known?.at === at) {
      known.cost += cost
      known.least += least
    } else charged.splice(i, 0, { at, cost, least })
  }

  #settle(now: number, units: number, chargedAt: number, remaining?: number): void {
    if (units === 0) return
    this.isTouched = true
    const { isBucket } = this
    if (units > 0) {
      // Others were admitted before it was known.
      this.hasDebt = true
      this.#charge(isBucket ? now : chargedAt, units, 0)
      return
    }
    if (isBucket) this.#flow.push({ at: now, cost: units, chargedAt, remaining })
    if (this.isMixed) this.#slack -= units
    const charge = this.#charged.find(({ at }) => at === chargedAt)
    const given = Math.min(-units, charge?.cost ?? 0)
    if (charge !== undefined) {
      charge.cost -= given
      charge.least = Math.min(charge.least, charge.cost)
    }
    if (given === -units) return
    this.#slack += -units - given
    this.missing += -units - given
    if (!isBucket) this.inexact ??= 'what was given back was lost before'
  }
}

/** A live bucket with the most that a document of a plan sets. */
function mostOf(
  policy: Extract<PlannedPolicy, { window: number }>,
  largest: number,
): typeof policy {
  const { burst = 0, maxDelay } = policy
  const delays = maxDelay === undefined ? {} : { maxDelay: Math.max(maxDelay, MOST_DELAY_MS) }
  return { ...policy, burst: Math.max(burst, largest, MOST_BURST), ...delays }
}

export function limitOf(policy: PlannedPolicy): number {
  return 'hold' in policy ? policy.concurrent : policy.limit
}

function definitionOf(
  policy: Extract<PlannedPolicy, { window: number }>,
  limit: number,
  charged: readonly Admitted[],
  now: number,
): number {
  const { algorithm, window: windowMs, burst, maxDelay: maxDelayMs, calendar } = policy
  if (calendar !== undefined) {
    const window = windowAt(calendar, now)
    const own = charged.filter(({ at }) => windowAt(calendar, at) === window)
    return limit - own.reduce((sum, { cost }) => sum + cost, 0)
  }
  const params = { limit, windowMs, burst, maxDelayMs }
  // The oracles of buckets begin with the first charge.
  const until = charged.at(-1)?.at ?? now
  return oracles[algorithm](params, charged, Math.max(now, until))
}
