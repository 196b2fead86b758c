import type { Answer, History, Loss, Operation } from './history.ts'
import { SequentialLimiter, type States } from './sequential.ts'

/** The most ways to explain a history that are followed at the same time. */
const MAX_WAYS = 5_000
/** How much earlier than others almost all answers are at most, ms. Larger differences have far more ways. */
const USUAL_EARLY_MS = 250

/**
 * Whether a history is one of the sequential limiter's; if not, by which time of the monotonic clock it is none, ms.
 * It is given up if there are too many ways to explain it.
 */
export type Verdict = 'possible' | 'too many ways' | { readonly impossibleBy: number }

/** A way in which what was asked so far may have been carried out. */
interface Way {
  readonly states: States
  /** Which of what is pending has been carried out: bits, by their places. */
  readonly done: bigint
  /** The latest time of the store so far, ms. */
  readonly now: number
}

/** An operation or a loss that was called and is not over. */
interface Pending extends Operation {
  readonly place: number
  readonly lost?: Loss['lost'] | undefined
}

/** A call or an end, ms on the monotonic clock. */
interface Moment {
  readonly time: number
  /** Decides which of the same time is first: the least. What ends and begins at the same time may overlap. */
  readonly order: 0 | 1 | 2
  readonly of: Omit<Pending, 'place'>
}

const CALLED = 0
const OVER = 1
/** A loss comes after everything that was over by then. */
const LOST = 2

/**
 * Wing and Gong's search: is there an order of the operations, each between its call and its end, in which the
 * sequential limiter gives every answer? The answers have the store's time, which never goes back, but for
 * `earlyMs`: so mostly only answers of the same millisecond can be swapped. An operation without an answer may
 * stand wherever its call and its end let it.
 *
 * It goes through the calls and ends in the order of time. When an operation ends, the ways that have not carried
 * it out do so, and before it whatever else is pending and fits.
 *
 * @param maxWays the most ways that are followed at the same time
 */
export function linearize(history: History, maxWays = MAX_WAYS): Verdict {
  const earlyMs = Math.min(history.earlyMs, USUAL_EARLY_MS)
  const usual = new Search({ ...history, earlyMs }, maxWays).run()
  // An order that is found among fewer is one among all.
  if (typeof usual === 'string' || earlyMs === history.earlyMs) return usual
  return new Search(history, maxWays).run()
}

class Search {
  readonly #limiter: SequentialLimiter
  readonly #moments: readonly Moment[]
  readonly #maxWays: number
  readonly #earlyMs: number
  readonly #pending = new Map<Moment['of'], Pending>()
  /** Between which times states are remembered for a loss, and these states. */
  readonly #rememberedSince: number
  readonly #rememberedUntil: number
  readonly #remembered = new Set<States>()

  constructor({ policies, operations, losses, earlyMs }: History, maxWays: number) {
    this.#limiter = new SequentialLimiter(policies)
    this.#moments = momentsOf(operations, losses)
    this.#maxWays = maxWays
    this.#earlyMs = earlyMs
    const since = losses.map(({ lost }) => (lost === 'everything' ? Infinity : lost.since))
    this.#rememberedSince = Math.min(Infinity, ...since)
    this.#rememberedUntil = Math.max(-Infinity, ...losses.map(({ from }) => from))
  }

  run(): Verdict {
    let ways: readonly Way[] = [{ states: this.#limiter.unused, done: 0n, now: -Infinity }]
    for (const { time, order, of } of this.#moments) {
      if (order !== OVER) {
        this.#pending.set(of, { ...of, place: this.#freePlace() })
        continue
      }
      const ending = this.#pending.get(of) as Pending
      const next = this.#end(
        ending,
        ways,
        time >= this.#rememberedSince && time <= this.#rememberedUntil,
      )
      if (next === undefined) return 'too many ways'
      if (next.length === 0) return { impossibleBy: time }
      this.#pending.delete(of)
      ways = this.#withoutLate(ending, next)
    }
    return 'possible'
  }

  /** The ways after an operation has ended; undefined: there are too many. */
  #end(ending: Pending, ways: readonly Way[], isRemembered: boolean): readonly Way[] | undefined {
    const ended = new Map<string, Way>()
    const known = new Map<string, Way>()
    const todo: Way[] = []
    const reach = (way: Way) => {
      if (put(known, way)) todo.push(way)
    }
    for (const way of ways) reach(way)
    for (let way = todo.pop(); way !== undefined; way = todo.pop()) {
      if (known.size > this.#maxWays) return undefined
      if (isRemembered) this.#remembered.add(way.states)
      if (has(way, ending)) put(ended, { ...way, done: way.done & ~bit(ending) })
      else this.#carryOut(way, reach)
    }
    return [...ended.values()]
  }

  /** Carries out each pending operation that may come next. */
  #carryOut(way: Way, reach: (way: Way) => void): void {
    const left = [...this.#pending.values()].filter((each) => !has(way, each))
    const certain = left.filter(({ isCertain, answer }) => isCertain && answer !== undefined)
    const times = certain.map(({ answer }) => (answer as Answer).at)
    const [first, last] = [Math.min(...times), Math.max(...times)]
    this.#carryOutAnswered(way, left, first, reach)
    for (const silent of left) {
      if (silent.lost !== undefined) this.#lose(way, silent, reach)
      else if (silent.answer === undefined) this.#carryOutSilent(way, silent, last, reach)
    }
  }

  /** @param first the earliest time of an answer that must still come, ms */
  #carryOutAnswered(
    way: Way,
    left: readonly Pending[],
    first: number,
    reach: (way: Way) => void,
  ): void {
    const next: Way[] = []
    for (const each of left) {
      const { answer, asked, isCertain } = each
      if (answer === undefined) continue
      const { at } = answer
      if (at < way.now - this.#earlyMs || at > first + this.#earlyMs) continue
      const carriedOut = this.#limiter.carryOut(way.states, asked, at)
      const isUnchanged = carriedOut.states === way.states
      if (!isSame(carriedOut.answer, answer) || (isUnchanged && !isCertain)) continue
      const now = Math.max(way.now, at)
      const reached = { states: carriedOut.states, done: way.done | bit(each), now }
      if (isUnchanged && at <= first) {
        // The first that must come, and it changes nothing: of those with an answer it may as well be next.
        reach(reached)
        return
      }
      next.push(reached)
    }
    for (const each of next) reach(each)
  }

  /** @param last the latest time of an answer that must still come, ms */
  #carryOutSilent(way: Way, silent: Pending, last: number, reach: (way: Way) => void): void {
    const done = way.done | bit(silent)
    const until = last === -Infinity ? silent.to : Math.min(silent.to, last + this.#earlyMs)
    for (let at = Math.max(way.now - this.#earlyMs, silent.from); at <= until; at += 1) {
      const { states } = this.#limiter.carryOut(way.states, silent.asked, at)
      // What changes nothing need not have happened.
      if (silent.isCertain || states !== way.states)
        reach({ states, done, now: Math.max(way.now, at) })
    }
  }

  #lose(way: Way, loss: Pending, reach: (way: Way) => void): void {
    const done = way.done | bit(loss)
    const left = loss.lost === 'everything' ? [this.#limiter.unused] : this.#remembered
    for (const states of left) reach({ ...way, states, done })
  }

  /** Forgets what need not have happened, and can't be carried out after an operation any more. */
  #withoutLate({ called }: Pending, ways: readonly Way[]): readonly Way[] {
    const now = Math.min(...ways.map((way) => way.now)) - this.#earlyMs
    let late = 0n
    for (const [of, each] of this.#pending) {
      if (each.isCertain || (each.over >= called && (each.answer?.at ?? each.to) >= now)) continue
      late |= bit(each)
      this.#pending.delete(of)
    }
    if (late === 0n) return ways
    const left = new Map<string, Way>()
    for (const way of ways) put(left, { ...way, done: way.done & ~late })
    return [...left.values()]
  }

  #freePlace(): number {
    const taken = new Set([...this.#pending.values()].map(({ place }) => place))
    let place = 0
    while (taken.has(place)) place += 1
    return place
  }
}

function momentsOf(operations: readonly Operation[], losses: readonly Loss[]): readonly Moment[] {
  const moments: Moment[] = []
  for (const of of operations) {
    moments.push({ time: of.called, order: CALLED, of })
    if (of.isCertain) moments.push({ time: of.over, order: OVER, of })
  }
  for (const { from: called, to: over, lost } of losses) {
    const asked = { cost: 0 }
    const of = { process: 0, asked, called, over, isCertain: false, from: 0, to: Infinity, lost }
    moments.push({ time: called, order: LOST, of })
  }
  return moments.sort((one, other) => one.time - other.time || one.order - other.order)
}

/**
 * Adds a way, unless it is known: the one that is earliest leaves most to what follows.
 *
 * @returns whether it did
 */
function put(ways: Map<string, Way>, way: Way): boolean {
  const id = `${way.done} ${way.states}`
  if ((ways.get(id)?.now ?? Infinity) <= way.now) return false
  ways.set(id, way)
  return true
}

function isSame(one: Answer | undefined, other: Answer | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function bit({ place }: Pending): bigint {
  return 1n << BigInt(place)
}

function has({ done }: Way, pending: Pending): boolean {
  return (done & bit(pending)) !== 0n
}
