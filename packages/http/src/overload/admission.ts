import { ClientLine } from '@sluice/core/internal'
import {
  type Control,
  type Ended,
  firstControl,
  type KindSample,
  LONG,
  LONG_MS,
  type OverloadSignal,
  step,
} from './control.ts'

/** The measurements of the process, and its timers. Times are those of a monotonic clock, ms. */
export interface Runtime {
  now(): number
  /** Calls back when the event loop has read what has arrived. */
  afterTurn(act: () => void): void
  /** Calls back after `ms`, without keeping the process alive. */
  inBackground(act: () => void, ms: number): () => void
  /** The share of the heap's limit that is in use; 0 where that is not known. */
  heapShare(): number
}

/** A request that waits for a place. */
export interface Waiter {
  /** The index of its class. */
  readonly importance: number
  readonly client: string
  /** When it began to wait, ms. */
  readonly since: number
  /** Called once, later than `Admission.wait` returns: with true if it may begin, with false if it is shed. */
  settle: (begins: boolean) => void
}

export interface ClassTerms {
  readonly name: string
  /**
   * The share of places, and of requests that begin, that is reserved for this class while it needs
   * it.
   */
  readonly reserve: number
}

export interface AdmissionOptions {
  /** The classes in the order of their importance. */
  readonly classes: readonly ClassTerms[]
  /** The most requests that wait. */
  readonly maxWaiting: number
  readonly maxWaitMs: number
  /** Whether the client decides how long the rest takes: it reads the response, or still sends the body. */
  isClients(entry: Entry): boolean
  /** What similar requests have in common, as far as it is known by now: their route, or their class. */
  kindOf(entry: Entry): string
  /** The client of a request that takes long. */
  clientOf(entry: Entry): string
}

/** A request in progress. */
export interface Entry {
  readonly importance: number
  readonly startedAt: number
  /** How many were in progress when it began, itself included. */
  readonly active: number
  readonly request: unknown
  readonly response: unknown
  /** Whether it takes so long that it no longer holds a place. */
  isLong: boolean
}

interface KindNotes extends KindSample {
  readonly ended: Ended[]
  readonly late: Set<string>
}

/** The numbers of requests of a class since the last report. */
export interface ClassCounts {
  /** Requests that began, at once or after a wait. */
  admitted: number
  /** How many of the admitted had waited. */
  waited: number
  shed: number
}

/** How often the loop of control runs while there are requests, ms. */
export const TICK_MS = 100
/** How often what happened is reported, ms. */
const REPORT_MS = 1000
/** How long requests begin in one turn of the event loop before it reads what has arrived, ms. */
const SLICE_MS = 5
/** All has been read after so many turns without a request: in one a connection is accepted, in the next it is read. */
const QUIET = 2
/** While more arrives than can be done, a queue is at least so long, ms, and at least so many requests. */
const SHORT_QUEUE_MS = 10
const SHORT_QUEUE = 8
/** A request that takes long is forgotten then, ms: the application may never end the response of a client that has gone. */
const FORGET_MS = 600_000
/** The share of a class's earlier need that is still kept for it after a tick. */
const NEED_DECAY = 0.9
/** A window has at least so many requests, unless there are fewer. */
const ENOUGH = 10
/** How much of a new interval is taken over. */
const SMOOTH = 0.2
/**
 * The queue is shortened from this number on, and is shortest at the second. Each tick in which more arrives than can
 * be done adds 1 to 3, by how much more; each other tick takes 1.
 */
const PRESSED = 3
const MOST_PRESSED = 6

/** A class, and the counts of its requests. */
class Class {
  readonly name: string
  readonly reserve: number
  readonly line = new ClientLine<Waiter>()
  active = 0
  /** The most places that it has needed lately. */
  need = 0
  /** The requests that it may begin before more important ones, by its reserved share: up to 1. */
  credit = 0
  counts: ClassCounts = { admitted: 0, waited: 0, shed: 0 }

  constructor({ name, reserve }: ClassTerms) {
    this.name = name
    this.reserve = reserve
  }

  /** How many of so many places are kept for it now, besides those that it has. */
  kept(limit: number): number {
    const needed = Math.max(this.need, this.active + this.line.size)
    const reserved = Math.min(Math.round(limit * this.reserve), limit - 1, needed)
    return Math.max(0, reserved - this.active)
  }
}

/**
 * Which requests of a process begin, wait or are shed. Knows nothing of HTTP.
 *
 * - As many are in progress as the loop of control allows (`control.ts`).
 * - In one turn of the event loop requests begin for `SLICE_MS`. The others wait until it has read what has
 *   arrived, so the more important ones of those come first, however long a handler takes.
 * - A short time after more arrives than can be done, the queue is shortened: a queue that never gets empty
 *   makes all of them late, and helps nobody.
 */
export class Admission {
  control: Control = firstControl
  /** The most requests that may be in progress now. */
  limit = Math.floor(firstControl.limit)
  active = 0
  waiting = 0
  /** How long the queue lets a request wait at present, ms. */
  waitMs: number
  /** When shedding began; undefined while nothing is shed. */
  sheddingSince: number | undefined
  readonly #runtime: Runtime
  readonly #options: AdmissionOptions
  readonly #classes: readonly Class[]
  readonly #reserves: boolean
  readonly #report: (() => void) | undefined
  readonly #entries = new Set<Entry>()
  #kinds = new Map<string, KindNotes>()
  #mostActive = 0
  /** Whether a request has found no place since the last step, or the last tick. */
  #isLimited = false
  #isShedding = false
  /** Arrived and begun in this tick. */
  #offered = 0
  #begun = 0
  /** Whether somebody has waited through all of this tick. */
  #wasWaited = false
  /** The time from one beginning to the next while others wait, ms; 0 until it is known. */
  #intervalMs = 0
  #pressed = 0
  #steppedAt = 0
  #tickedAt = 0
  #tickDueAt = 0
  #reportedAt = 0
  #isTicking = false
  /** When the first request began in this turn; undefined: none has. */
  #sliceSince: number | undefined
  #pumps = 0
  /** When the event loop began to read what has arrived meanwhile; undefined: it does not. */
  #readingSince: number | undefined
  /** How many requests have arrived, and how many had in the turn before. */
  #arrived = 0
  #seen = 0
  /** How many turns in a row have brought none. */
  #quietTurns = 0

  /** @param report called about once a second while there are requests, and when shedding begins */
  constructor(options: AdmissionOptions, runtime: Runtime, report?: () => void) {
    this.#options = options
    this.#runtime = runtime
    this.#report = report
    this.#classes = options.classes.map((each) => new Class(each))
    this.#reserves = this.#classes.some(({ reserve }) => reserve > 0)
    this.waitMs = options.maxWaitMs
  }

  /** Returns the counts of each class since the last call. */
  takeCounts(): Record<string, ClassCounts> {
    return Object.fromEntries(
      this.#classes.map((each) => {
        const { name, counts } = each
        each.counts = { admitted: 0, waited: 0, shed: 0 }
        return [name, counts]
      }),
    )
  }

  /** The signal that keeps requests from beginning. */
  get signal(): OverloadSignal {
    const { isHeapFull, signal } = this.control
    return isHeapFull || this.#isLimited ? signal : 'event-loop-utilization'
  }

  /** Begins a request, if one of its class can begin at once. */
  enter(importance: number, request: unknown, response: unknown): Entry | undefined {
    this.#offered += 1
    this.#arrived += 1
    const now = this.#runtime.now()
    if (!this.#isTicking) this.#startTicking(now)
    const own = this.#classes[importance] as Class
    if (this.waiting > 0 && this.#hasOlder(importance)) return undefined
    if (this.#isSliceOver(now) || !this.#hasPlace(own)) return undefined
    return this.#begin(importance, now, request, response)
  }

  /**
   * Lets a request wait that could not enter. If there is no room, a less important one is shed, or one of a key
   * that has more.
   * @returns undefined if the request itself is shed; otherwise its `settle` is called later
   */
  wait(importance: number, client: string): Waiter | undefined {
    const now = this.#runtime.now()
    const waiter: Waiter = { importance, client, since: now, settle: () => {} }
    while (this.waiting >= this.#most) {
      const victim = this.#victimOf(waiter)
      this.#noteShed(victim ?? waiter, now)
      if (victim === undefined) return undefined
      this.leave(victim)
      victim.settle(false)
    }
    this.#lineOf(waiter).add(waiter)
    this.waiting += 1
    this.#schedule()
    return waiter
  }

  /** Ends a wait without an answer: the client has gone. */
  leave(waiter: Waiter): void {
    if (!this.#lineOf(waiter).delete(waiter)) return
    this.waiting -= 1
  }

  /** Begins a request that has waited; see `Waiter.settle`. */
  resume({ importance }: Waiter, request: unknown, response: unknown): Entry {
    ;(this.#classes[importance] as Class).counts.waited += 1
    return this.#begin(importance, this.#runtime.now(), request, response)
  }

  end(entry: Entry): void {
    if (!this.#entries.delete(entry)) return
    const { startedAt: at, active, isLong } = entry
    if (!isLong) this.#free(entry)
    const ms = Math.max(1, this.#runtime.now() - at)
    if (at >= this.control.judgedSince) this.#notesOf(entry).ended.push({ at, ms, active })
    if (this.waiting > 0) this.#schedule()
  }

  /** How many may wait: fewer while more arrives than can be done. */
  get #most(): number {
    const { maxWaiting } = this.#options
    if (this.control.isHeapFull) return 0
    if (this.#intervalMs === 0) return maxWaiting
    return Math.min(maxWaiting, Math.max(1, Math.floor(this.waitMs / this.#intervalMs)))
  }

  #lineOf({ importance }: Waiter): ClientLine<Waiter> {
    return (this.#classes[importance] as Class).line
  }

  /** Whether somebody waits who is as important, or more. */
  #hasOlder(importance: number): boolean {
    for (let i = 0; i <= importance; i += 1)
      if ((this.#classes[i] as Class).line.size > 0) return true
    return false
  }

  #isSliceOver(now: number): boolean {
    return this.#sliceSince !== undefined && now - this.#sliceSince >= SLICE_MS
  }

  /** Whether a place is free that is not kept for another class. */
  #hasPlace(own: Class): boolean {
    let free = this.limit - this.active
    if (this.#reserves && free > 0)
      for (const each of this.#classes) if (each !== own) free -= each.kept(this.limit)
    if (free > 0) return true
    this.#isLimited = true
    own.need = Math.max(own.need, own.active + own.line.size + 1)
    return false
  }

  #begin(importance: number, now: number, request: unknown, response: unknown): Entry {
    const own = this.#classes[importance] as Class
    const active = this.active + 1
    const entry: Entry = { importance, startedAt: now, active, request, response, isLong: false }
    if (this.#sliceSince === undefined) {
      this.#sliceSince = now
      this.#runtime.afterTurn(this.#endSlice)
    }
    this.#entries.add(entry)
    this.active += 1
    own.active += 1
    this.#begun += 1
    own.counts.admitted += 1
    if (own.active > own.need) own.need = own.active
    if (this.active > this.#mostActive) this.#mostActive = this.active
    if (this.#reserves) this.#credit(own)
    return entry
  }

  /** After a long slice, the event loop reads all that has arrived: in one turn it accepts one connection. */
  readonly #endSlice = () => {
    const now = this.#runtime.now()
    const isFirst = this.#readingSince === undefined
    this.#readingSince ??= now
    this.#quietTurns = isFirst || this.#arrived !== this.#seen ? 0 : this.#quietTurns + 1
    this.#seen = this.#arrived
    if (this.#isSliceOver(now) && this.#quietTurns < QUIET && now - this.#readingSince < SLICE_MS) {
      this.#runtime.afterTurn(this.#endSlice)
      return
    }
    this.#sliceSince = undefined
    this.#readingSince = undefined
  }

  /** With each beginning, each class gets its share of one. */
  #credit(own: Class): void {
    for (const each of this.#classes) each.credit = Math.min(1, each.credit + each.reserve)
    own.credit = Math.max(-1, own.credit - 1)
  }

  #free({ importance }: Entry): void {
    this.active -= 1
    ;(this.#classes[importance] as Class).active -= 1
  }

  #notesOf(entry: Entry): KindNotes {
    const kind = this.#options.kindOf(entry)
    let notes = this.#kinds.get(kind)
    if (notes === undefined) {
      notes = { kind, ended: [], late: new Set() }
      this.#kinds.set(kind, notes)
    }
    return notes
  }

  /**
   * The waiter that makes room for a newcomer: one of a less important class, one of a more important class if the
   * newcomer's has less of the queue than its share, or one of its class whose key has more waiting requests.
   */
  #victimOf({ importance, client }: Waiter): Waiter | undefined {
    const own = this.#classes[importance] as Class
    const isBelow = !this.#exceedsShare(own, 1)
    for (let i = this.#classes.length - 1; i >= 0; i -= 1) {
      const each = this.#classes[i] as Class
      if (each !== own && (i > importance || isBelow) && this.#exceedsShare(each, 0))
        return each.line.longest()
    }
    const longest = own.line.longest()
    if (longest === undefined || longest.client === client) return undefined
    return own.line.countOf(longest.client) > own.line.countOf(client) + 1 ? longest : undefined
  }

  /** Whether a class with so many more requests would have more of the queue than is reserved for it. */
  #exceedsShare({ line, reserve }: Class, more: number): boolean {
    return line.size + more > Math.round(reserve * this.#most)
  }

  #shed(waiter: Waiter, now: number): void {
    this.#noteShed(waiter, now)
    waiter.settle(false)
  }

  #noteShed(waiter: Waiter, now: number): void {
    const own = this.#classes[waiter.importance] as Class
    own.counts.shed += 1
    own.need = Math.max(own.need, own.active + own.line.size + 1)
    this.#isShedding = true
    if (this.sheddingSince === undefined) {
      this.sheddingSince = now
      this.#reportedAt = now
      this.#report?.()
    }
  }

  /** Arranges that as many of those who wait begin as there are places. */
  #schedule(): void {
    if (this.waiting === 0 || this.#next() === undefined) return
    const wanted = Math.min(this.waiting, this.limit - this.active)
    while (this.#pumps < wanted) {
      this.#pumps += 1
      this.#runtime.afterTurn(this.#pump)
    }
  }

  /** Begins the next one. Its synchronous work is done before another is begun. */
  readonly #pump = () => {
    this.#pumps -= 1
    const now = this.#runtime.now()
    if (!this.#isSliceOver(now)) {
      for (let own = this.#next(); own !== undefined; own = this.#next()) {
        const waiter = own.line.head as Waiter
        this.leave(waiter)
        if (now - waiter.since <= this.#options.maxWaitMs) {
          waiter.settle(true)
          break
        }
        this.#shed(waiter, now)
      }
    }
    this.#schedule()
  }

  /** The class whose turn it is: one that has had less than its reserved share, else the most important. */
  #next(): Class | undefined {
    let next: Class | undefined
    for (const each of this.#classes) {
      if (each.line.size === 0 || !this.#hasPlace(each)) continue
      if (each.credit >= 1) return each
      next ??= each
    }
    return next
  }

  #startTicking(now: number): void {
    this.#isTicking = true
    this.#tickedAt = now
    this.#steppedAt = now
    this.#reportedAt = now
    this.#scheduleTick(now)
  }

  #scheduleTick(now: number): void {
    this.#tickDueAt = now + TICK_MS
    this.#runtime.inBackground(this.#tick, TICK_MS)
  }

  readonly #tick = () => {
    const now = this.#runtime.now()
    const isIdle = this.#offered === 0 && this.waiting === 0 && this.#entries.size === 0
    this.#adjustQueue(now)
    this.#setAside(now)
    this.#adjustLimit(now)
    if (now - this.#reportedAt >= REPORT_MS || isIdle) this.#endReport(now)
    for (const each of this.#classes)
      each.need = Math.max(each.active + each.line.size, each.need * NEED_DECAY)
    if (isIdle) this.#isTicking = false
    else this.#scheduleTick(now)
    this.#schedule()
  }

  #endReport(now: number): void {
    this.#reportedAt = now
    if (!this.#isShedding) this.sheddingSince = undefined
    this.#isShedding = false
    this.#report?.()
  }

  /** Shortens the queue while more arrives than can be done, and sheds who has waited for too long. */
  #adjustQueue(now: number): void {
    const { maxWaitMs } = this.#options
    if (this.#wasWaited && this.waiting > 0 && this.#begun > 0) {
      const intervalMs = (now - this.#tickedAt) / this.#begun
      if (this.#intervalMs === 0) this.#intervalMs = intervalMs
      // An interruption must not count for more than a slow tick does.
      this.#intervalMs += SMOOTH * (Math.min(intervalMs, 2 * this.#intervalMs) - this.#intervalMs)
    }
    // Requests that arrived during an interruption come all at once.
    const isPressed = this.#wasWaited && this.#offered > this.#begun && !this.control.isStalled
    const change = isPressed
      ? Math.min(3, Math.floor(this.#offered / Math.max(1, this.#begun)))
      : -1
    this.#pressed = Math.min(MOST_PRESSED, Math.max(0, this.#pressed + change))
    const requests = SHORT_QUEUE * (1 + (MOST_PRESSED - this.#pressed) / 2)
    const shortMs = Math.max(SHORT_QUEUE_MS, requests * this.#intervalMs)
    const isShort = this.#pressed >= PRESSED && this.#intervalMs > 0
    this.waitMs = isShort ? Math.min(maxWaitMs, shortMs) : maxWaitMs
    this.#offered = 0
    this.#begun = 0
    this.#wasWaited = this.waiting > 0
    this.#tickedAt = now
    if (this.waiting > 0) this.#shedLate(now)
  }

  /**
   * Sheds who has waited for too long. The most important class that waits is only as long as it may be, so it is
   * late after `maxWait` alone. What others wait for depends on how much more comes that is more important.
   */
  #shedLate(now: number): void {
    let ageMs = this.#options.maxWaitMs
    for (const { line } of this.#classes) {
      if (line.size === 0) continue
      for (const waiter of [...line].filter(({ since }) => since < now - ageMs)) {
        this.leave(waiter)
        this.#shed(waiter, now)
      }
      ageMs = Math.min(ageMs, Math.max(this.waitMs, this.control.latencyMs))
    }
    while (this.waiting > this.#most) {
      const last = (this.#classes.findLast((each) => this.#exceedsShare(each, 0)) ??
        this.#classes.findLast(({ line }) => line.size > 0)) as Class
      const waiter = last.line.longest() as Waiter
      this.leave(waiter)
      this.#shed(waiter, now)
    }
  }

  /** Takes the places of requests that take long, and of those that wait for their clients. */
  #setAside(now: number): void {
    const { latencyMs } = this.control
    const longMs = latencyMs === 0 ? FORGET_MS : Math.max(LONG_MS, LONG * latencyMs)
    for (const entry of this.#entries) {
      const ms = now - entry.startedAt
      // They are in the order in which they began.
      if (ms < LONG_MS) break
      if (entry.isLong) {
        if (ms > FORGET_MS) this.#entries.delete(entry)
      } else if (this.#options.isClients(entry)) {
        this.#entries.delete(entry)
        this.#free(entry)
      } else if (ms > longMs) {
        entry.isLong = true
        this.#free(entry)
        this.#notesOf(entry).late.add(this.#options.clientOf(entry))
      }
    }
  }

  /** When the oldest of those that hold a place began. */
  get #oldestAt(): number {
    for (const { isLong, startedAt } of this.#entries) if (!isLong) return startedAt
    return Infinity
  }

  #adjustLimit(now: number): void {
    const delayMs = Math.max(0, now - this.#tickDueAt)
    const kinds = [...this.#kinds.values()]
    const requests = kinds.reduce((sum, { ended }) => sum + ended.length, 0)
    const sinceMs = now - this.#steppedAt
    const isEnough = requests >= ENOUGH && sinceMs >= Math.min(REPORT_MS, this.control.latencyMs)
    // A window without enough requests goes on, but what the loop and the heap say counts at once.
    const mostMs = requests > 0 ? REPORT_MS : Math.max(REPORT_MS / 4, this.control.latencyMs)
    const isWindow = isEnough || sinceMs >= mostMs
    const isLimited = this.#isLimited
    const mostActive = this.#mostActive
    const sample = {
      kinds: isWindow ? kinds : [],
      windowMs: isWindow ? sinceMs : 0,
      mostActive,
      isLimited,
      oldestAt: this.#oldestAt,
      delayMs,
      heap: this.#runtime.heapShare(),
    }
    this.control = step(this.control, sample, now)
    const limit = Math.floor(this.control.limit)
    if (limit === this.limit && !isWindow && !this.control.isStalled) return
    this.limit = limit
    this.#kinds = new Map()
    this.#steppedAt = now
    this.#mostActive = this.active
    this.#isLimited = this.waiting > 0 && this.active >= this.limit
  }
}
