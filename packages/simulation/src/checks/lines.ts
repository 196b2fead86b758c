import type { Decision, PolicyDecision, WaitError } from '@sluice/core'
import type { Charge } from '@sluice/core/store'
import type { HttpLimiter } from '@sluice/http/adapter'
import { addressOf, type Exchange, type Reply } from '../exchange.ts'
import { settlesOf } from '../options.ts'
import type { Owner } from '../owner.ts'
import type { PlannedWaits } from '../plan.ts'
import { LAST_CALLS, ROUNDING_MS, stalledMs, waitsWithin } from './deadline.ts'

type Limiter = HttpLimiter<Exchange, Reply>['limiter']
type Waiting = Limiter['waiting']

/** A slot may be free again before that, ms; a longer wait is for a block. */
const SLOT_WAIT_MS = 1000

/** A request of a limiter whose requests wait. */
interface Asked {
  readonly exchange: Exchange
  /** What was said of it when it came; undefined: others waited, so nobody was asked. */
  first: Decision | undefined
  /** Undefined: it has not waited. */
  waiter: Waiter | undefined
}

/** A request that waits for its turn. Times are ms of the simulation. */
interface Waiter {
  readonly exchange: Exchange
  readonly charges: readonly Charge[]
  /** Whose turn it is. */
  readonly client: string
  readonly priority: number
  readonly since: number
  /** When the store was asked for it last. */
  askedAt: number
}

/** Checks how the requests of one limiter wait: in their order, no longer than they may, and only where that helps. */
export class Lines {
  readonly #owner: Owner
  readonly #waits: PlannedWaits
  readonly #asked = new WeakMap<readonly Charge[], Asked>()
  /** The waiting requests, the oldest first. */
  readonly #open = new Map<readonly Charge[], Waiter>()
  /** The waiting requests whose wait has ended in this moment. */
  #leaving: { readonly at: number; readonly waiters: Waiter[] } = { at: -1, waiters: [] }
  /** When a client has had its turn last, and when a wait of it has ended last: by its place in the line. */
  readonly #served = new Map<string, number>()
  readonly #ended = new Map<string, number>()
  /** When a wait has ended last, by the keys that it was for. */
  readonly #left = new Map<string, number>()

  constructor(owner: Owner, waits: PlannedWaits) {
    this.#owner = owner
    this.#waits = waits
  }

  /**
   * Learns when the limiter's requests wait.
   * @param note told of the charges of each request before anybody is asked
   */
  follow(limiter: Limiter, note: (charges: readonly Charge[]) => Exchange): void {
    const { waiting } = limiter
    const awaitedKey = waiting.awaitedKey.bind(waiting)
    const decide = limiter.decide.bind(limiter)
    const wait = waiting.wait.bind(waiting)
    waiting.awaitedKey = (charges) => {
      this.#asked.set(charges, { exchange: note(charges), first: undefined, waiter: undefined })
      const key = awaitedKey(charges)
      if (key !== undefined) this.#checkAwaited(key)
      return key
    }
    limiter.decide = (charges, ...others) => {
      const asked = this.#asked.get(charges)
      if (asked !== undefined) this.#checkTurn(charges, asked.waiter)
      if (asked?.waiter !== undefined) asked.waiter.askedAt = this.#now
      const decision = decide(charges, ...others)
      if (asked !== undefined && asked.waiter === undefined)
        void Promise.resolve(decision).then((first) => {
          asked.first = first
        })
      return decision
    }
    waiting.wait = (...given) => this.#wait(wait, given)
  }

  isInLine(exchange: Exchange): boolean {
    return [...this.#open.values()].some((each) => each.exchange === exchange)
  }

  /** A client has left: its request no longer waits. */
  checkGone(exchange: Exchange): void {
    if (this.isInLine(exchange)) this.#fail('a request waits whose client has left')
  }

  /** The limiter is closed: nobody waits any more. */
  checkClosed(): void {
    if (this.#inLine().length > 0) this.#fail('a request waits for a limiter that is closed')
  }

  /** What is refused at once could not be admitted in time. */
  checkRefused({ charges }: Exchange, decision: Decision): void {
    const asked = this.#asked.get(charges)
    if (asked === undefined || asked.waiter !== undefined || decision.policies.length === 0) return
    if (!decision.allowed && !this.#isHopeless(decision))
      this.#fail('a request is refused that may be admitted in time')
  }

  #wait(wait: Waiting['wait'], given: Parameters<Waiting['wait']>) {
    const [charges] = given
    const asked = this.#asked.get(charges) as Asked
    const { exchange, first } = asked
    const { planned } = exchange
    const priority = this.#waits.priority === 'constant' ? 1 : (planned.priority ?? 0)
    const client = addressOf(planned.client)
    const waiter = { exchange, charges, client, priority, since: this.#now, askedAt: -1 }
    asked.waiter = waiter
    exchange.hasWaited = true
    this.#owner.world.tell(this.#owner.name, () => `lets the request of ${planned.client} wait`)
    if (first && this.#isHopeless(first)) this.#fail('a request waits for what comes too late')
    this.#open.set(charges, waiter)
    const ended = wait(...given)
    ended.then(
      () => this.#admit(waiter),
      (error) => this.#reject(waiter, error),
    )
    return ended
  }

  /** Whether it is certain that a refused one is not admitted in time. */
  #isHopeless({ policies, ban }: Decision): boolean {
    const isCertain = ({ unit, retryAfterMs, dryRun }: PolicyDecision) =>
      !dryRun &&
      retryAfterMs > this.#waits.maxMs &&
      (unit !== 'concurrent-requests' || retryAfterMs > SLOT_WAIT_MS)
    return ban !== undefined || policies.some(isCertain)
  }

  /** The requests that are in line for certain: for a cost above the limit, the store is asked before. */
  #inLine(): Waiter[] {
    const isJoined = ({ since, charges }: Waiter) =>
      since < this.#now && charges.every(({ cost, limit }) => cost <= limit.units)
    return [...this.#open.values()].filter(isJoined)
  }

  /**
   * The store is asked for the first one of a line, and in the same moment for those behind it: nobody else is more
   * important, came before it from the same client, or is of a client that has waited since before the one before.
   * With several policies, the line of a request depends on what was said.
   *
   * @param waiter undefined: it has just come
   */
  #checkTurn(charges: readonly Charge[], waiter: Waiter | undefined): void {
    const keys = charges.map(({ key }) => key)
    for (const other of this.#inLine()) {
      const [first, ...others] = other.charges as [Charge]
      if (
        other === waiter ||
        other.askedAt === this.#now ||
        others.length > 0 ||
        !keys.includes(first.key)
      )
        continue
      if (this.#wrongBefore(waiter, other) === undefined) continue
      // Who is no longer in line, or has had a turn, may not have been told.
      this.#owner.world.timeline.after(0, () => {
        const wrong = this.#wrongBefore(waiter, other)
        if (this.#open.has(other.charges) && wrong !== undefined) this.#fail(wrong)
      })
    }
  }

  /** Who comes stands behind others only while there are any, or what they have asked for last is on its way. */
  #checkAwaited(key: string): void {
    const isOf = ({ charges }: Waiter) => charges.some((charge) => charge.key === key)
    if ([...this.#open.values()].some(isOf)) return
    const left = this.#left.get(key) ?? -Infinity
    const { deadline } = this.#owner.world.plan.application
    const mostMs =
      LAST_CALLS * deadline + ROUNDING_MS + stalledMs(this.#owner.machine, left, this.#now)
    if (this.#now - left > mostMs) this.#fail('a request waits behind nobody')
  }

  /** Why the store may not be asked for a waiter while another one waits; undefined: it may. */
  #wrongBefore(waiter: Waiter | undefined, other: Waiter): string | undefined {
    if (waiter === undefined) return 'a request overtakes those that wait'
    if (other.priority > waiter.priority) return 'the less important comes first'
    if (other.priority < waiter.priority) return undefined
    if (other.client === waiter.client)
      return other.since < waiter.since ? 'who came later comes first' : undefined
    const since = Math.max(other.since, this.#ended.get(placeOf(other)) ?? 0)
    const hasHadTurn = (this.#served.get(placeOf(waiter)) ?? 0) > since
    return hasHadTurn ? `a client has two turns while ${other.client} waits` : undefined
  }

  #admit(waiter: Waiter): void {
    this.#end(waiter)
    this.#served.set(placeOf(waiter), this.#now)
    if (waiter.exchange.isClosed) this.#fail('a request is admitted whose client has left')
  }

  #reject(waiter: Waiter, { code, retryAfterMs }: WaitError): void {
    const { exchange, since, charges, client } = waiter
    const { faults } = this.#owner.world.plan
    this.#owner.world.tell(
      this.#owner.name,
      () => `ends the wait of ${exchange.planned.client} (${code})`,
    )
    this.#end(waiter)
    exchange.overAt ??= this.#now
    exchange.hasLeftLine = code === 'SLUICE_WAIT_ABORTED'
    if (exchange.hasLeftLine) {
      if (!exchange.isClosed) this.#fail('a request leaves the line whose client is there')
    } else if (code === 'SLUICE_WAIT_TOO_LONG') {
      const leftMs = since + this.#waits.maxMs - this.#now
      if (leftMs <= ROUNDING_MS) return
      if (retryAfterMs < leftMs - ROUNDING_MS)
        this.#fail(`a wait ends ${leftMs} ms early, for ${retryAfterMs} ms`)
      this.#checkCertain(waiter, leftMs)
    } else if (code === 'SLUICE_WAIT_FULL') {
      // Who comes wakes those whose time is over. What they leave is free for the next one.
      const others = this.#leaving.waiters.filter((each) => each !== waiter)
      const placed = [...this.#open.values(), ...others]
      const own = placed.filter((each) => each.client === client).length
      const free = this.#waits.most - placed.length
      if (own < free) this.#fail(`${client} has ${own} places, and ${free} are free`)
    } else if (code === 'SLUICE_WAIT_NEVER') {
      const isOver = charges.some(({ cost, limit }) => cost > limit.units)
      // A client may get a smaller limit.
      if (!isOver && faults.length === 0) this.#fail('never is too long')
    } else if (!this.#owner.machine.isLeaving) this.#fail(`a wait ends by ${code}`)
  }

  /** What is given up early could not have been admitted in time, behind all others that are as important. */
  #checkCertain({ exchange, charges, priority }: Waiter, leftMs: number): void {
    const { audit, cluster, plan } = this.#owner.world
    const { policies, ban } = plan.application
    const givesBack =
      policies.some((each) => 'hold' in each || settlesOf(each)) ||
      plan.requests.some(({ leavesMs }) => leavesMs !== undefined)
    const [{ key, cost, limit }, ...others] = charges as [Charge]
    if (plan.faults.length > 0 || ban || givesBack || others.length > 0) return
    const account = audit.of(exchange.places[0] as number, key)
    const ahead = this.#inLine().filter((each) => each.priority >= priority)
    const units = ahead.reduce((sum, each) => sum + (each.charges[0]?.cost ?? 0), 0)
    const at = cluster.clockOf(key) + Math.floor(leftMs) - 1
    if (account.inexact === undefined && account.remaining(limit.units, at) >= cost + units + 1)
      this.#fail(`a wait for ${cost} is given up that would be admitted`)
  }

  #end(waiter: Waiter): void {
    const { charges, since, exchange } = waiter
    this.#open.delete(charges)
    if (this.#leaving.at !== this.#now) this.#leaving = { at: this.#now, waiters: [] }
    this.#leaving.waiters.push(waiter)
    this.#ended.set(placeOf(waiter), this.#now)
    for (const { key } of charges) this.#left.set(key, this.#now)
    if (exchange.isBodyRead) this.#fail('the body of a request is read while that waits')
    const mostMs = waitsWithin(this.#owner.world.plan.application) + ROUNDING_MS
    const lateMs = this.#now - since - mostMs - stalledMs(this.#owner.machine, since, this.#now)
    if (lateMs > 0) this.#fail(`a request's wait ends ${lateMs} ms late`)
  }

  get #now(): number {
    return this.#owner.world.timeline.now
  }

  #fail(what: string): void {
    this.#owner.world.fail('waiting', `${this.#owner.name}: ${what}`)
  }
}

/** The place of a client in its line. */
function placeOf({ charges, client, priority }: Waiter): string {
  return `${charges[0]?.key} ${priority} ${client}`
}
