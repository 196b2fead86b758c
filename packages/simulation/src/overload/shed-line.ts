import { stalledMs } from '../checks/deadline.ts'
import type { Machine } from '../machine.ts'
import type { Stage } from '../stage.ts'
import type { Call } from './call.ts'
import type { LoadPlan, PlannedClass } from './load-plan.ts'

/** How often the loop of control looks who has waited for too long, ms. */
const TICK_MS = 100

/** What takes longer may hold no place any more, ms. */
const HANGS_MS = 1000

/** What computes when a wait ends may take so much longer, ms: a few requests of one turn. */
const TURN_MS = 100

/** What the load shedder says of itself. */
export type Said = () => { readonly limit: number; readonly waiting: number }

/** Checks which requests of one process begin, wait and are shed, whatever the load. */
export class ShedLine {
  readonly #plan: LoadPlan
  readonly #stage: Stage
  readonly #machine: Machine
  readonly #said: Said
  /** The waiting requests, the oldest first. */
  readonly #waiting = new Map<Call, number>()
  /** The requests that have begun, and whose responses the application has not ended. */
  readonly #active = new Set<Call>()
  /** When a client has had its turn last, and when a wait of it has ended last: by its class. */
  readonly #served = new Map<string, number>()
  readonly #ended = new Map<string, number>()

  constructor(plan: LoadPlan, stage: Stage, machine: Machine, said: Said) {
    this.#plan = plan
    this.#stage = stage
    this.#machine = machine
    this.#said = said
  }

  joins(call: Call): void {
    this.#waiting.set(call, this.#now)
    // The request that made room for it gets its answer later in the same turn.
    this.#stage.timeline.after(0, () => {
      const { size } = this.#waiting
      const { max } = this.#plan.queue
      if (size > max) this.#fail(`${size} wait of ${max}`)
      const { waiting } = this.#said()
      if (waiting !== size) this.#fail(`${waiting} are said to wait, and ${size} do`)
    })
  }

  /** A request has ended its wait: it begins, or is shed, or its client has left. */
  ends(call: Call, begins: boolean): void {
    const since = this.#waiting.get(call) as number
    this.#waiting.delete(call)
    const mostMs =
      this.#plan.queue.maxWait + TICK_MS + TURN_MS + stalledMs(this.#machine, since, this.#now)
    if (this.#now - since > mostMs) this.#fail(`a request waits for ${this.#now - since} ms`)
    if (begins && call.result === 'left') this.#fail('a request begins whose client has left')
    if (begins) {
      this.#begins(call)
      this.#checkTurn(call)
      this.#served.set(placeOf(call), this.#now)
    }
    this.#ended.set(placeOf(call), this.#now)
    if (call.exchange.isBodyRead) this.#fail('the body of a request is read while that waits')
  }

  beginsAtOnce(call: Call): void {
    for (const other of this.#inLine())
      if (other.importance <= call.importance) this.#fail('a request overtakes those that wait')
    this.#begins(call)
  }

  /** The application has ended its response. */
  over(call: Call): void {
    this.#active.delete(call)
  }

  checkGone(call: Call): void {
    if (this.#waiting.has(call)) this.#fail('a request waits whose client has left')
  }

  checkEmpty(): void {
    if (this.#waiting.size + this.#active.size > 0)
      this.#fail(`${this.#waiting.size} still wait, ${this.#active.size} are in progress`)
  }

  get #now(): number {
    return this.#stage.timeline.now
  }

  /** The requests that have waited since before this moment. */
  #inLine(): Call[] {
    return [...this.#waiting].flatMap(([call, since]) => (since < this.#now ? [call] : []))
  }

  /** No more are in progress than may be, and a reserved share is left to those that wait for it. */
  #begins(call: Call): void {
    this.#active.add(call)
    const { limit } = this.#said()
    const isKnown = [...this.#active].every(
      ({ begunAt = this.#now }) => this.#now - begunAt < HANGS_MS,
    )
    if (!isKnown) return
    if (this.#active.size > limit) this.#fail(`${this.#active.size} are in progress of ${limit}`)
    const own = this.#plan.classes[call.importance]
    for (const [i, each] of this.#plan.classes.entries()) {
      if (each === own || each.reserve === 0) continue
      const kept = this.#keptFor(i, each, limit)
      if (this.#active.size + kept > limit)
        this.#fail(`${own?.name} gets a place that is reserved for ${each.name}`)
    }
  }

  /** How many places are reserved for requests of a class that wait. */
  #keptFor(importance: number, { reserve }: PlannedClass, limit: number): number {
    const waiting = this.#inLine().filter((each) => each.importance === importance).length
    const active = [...this.#active].filter((each) => each.importance === importance).length
    const reserved = Math.min(Math.round(limit * reserve), limit - 1, active + waiting)
    return Math.max(0, reserved - active)
  }

  /** The most important of the waiting requests begins, in turns of their clients. */
  #checkTurn(call: Call): void {
    const { importance, client, arrivedAt } = call
    const hasReserve = (this.#plan.classes[importance]?.reserve ?? 0) > 0
    for (const other of this.#inLine()) {
      if (other.importance < importance && !hasReserve) this.#fail('the less important comes first')
      if (other.importance !== importance) continue
      if (other.client === client) {
        if (other.arrivedAt < arrivedAt) this.#fail('who came later comes first')
        continue
      }
      const since = Math.max(other.arrivedAt, this.#ended.get(placeOf(other)) ?? 0)
      if ((this.#served.get(placeOf(call)) ?? 0) > since)
        this.#fail(`${client} has two turns while ${other.client} waits`)
    }
  }

  #fail(what: string): void {
    this.#stage.fail('shedding', what)
  }
}

/** The place of a client in the line of its class. */
function placeOf({ importance, client }: Call): string {
  return `${importance} ${client}`
}
