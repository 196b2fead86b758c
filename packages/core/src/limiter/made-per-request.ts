import { warnOnce } from '../errors/warning.ts'

/** Points of suspicion about limiters with the same options, before the warning. */
const SUSPICIOUS = 30
/** A limiter used in the turn in which it was made, and never again. */
const USED_AT_ONCE = 3
/** One used once, later on: after an `await` in its handler. So are many that are made at start, for some time. */
const USED_LATER = 1
/** The most different limiters that are counted at the same time. */
const MAX_SHAPES = 100

/** The suspicion about the limiters of each shape that were used in one turn only. */
const suspicions = new Map<string, number>()
let hasWarned = false

/** Advanced by a microtask after each turn in which a limiter was made, or used for the first time. */
let turn = 0
let counting = false

/**
 * Whether a limiter with its own memory store is used in one turn only. If one is made for each request, it never
 * limits, because it counts nothing else.
 */
export class SingleUse {
  readonly #shape: string
  readonly #madeIn = turn
  /** The turn of its first use. */
  #usedIn = -1
  #points = 0

  private constructor(shape: string) {
    this.#shape = shape
  }

  /** @param shape equal for all limiters made by the same code */
  static start(shape: string): SingleUse | undefined {
    if (hasWarned) return undefined
    countTurn()
    return new SingleUse(shape)
  }

  /** Call it with each use until it returns true: then it is used again, or the warning was given. */
  isRuledOut(): boolean {
    if (this.#usedIn < 0) this.#suspect(turn === this.#madeIn ? USED_AT_ONCE : USED_LATER)
    else if (turn !== this.#usedIn) {
      this.end()
      return true
    }
    return hasWarned
  }

  /** A closed limiter was made with care, so it does not count. */
  end(): void {
    if (this.#points > 0) add(this.#shape, -this.#points)
    this.#points = 0
  }

  #suspect(points: number): void {
    this.#usedIn = turn
    countTurn()
    this.#points = points
    if (add(this.#shape, points) < SUSPICIOUS) return
    hasWarned = true
    suspicions.clear()
    warnOnce(
      'SLUICE_MADE_PER_REQUEST',
      'Many limiters with the same options, 10 or more, were each used once and never again. ' +
        'A limiter created in a request handler counts only one request and never limits. Create ' +
        'it once, outside the handler, and use it for every request.',
    )
  }
}

/** Not by a timer: tests may replace timers. */
function countTurn(): void {
  if (counting) return
  counting = true
  void Promise.resolve().then(endTurn)
}

function endTurn(): void {
  counting = false
  turn += 1
}

/** @returns how many points there are now */
function add(shape: string, points: number): number {
  const sum = Math.max(0, (suspicions.get(shape) ?? 0) + points)
  if (suspicions.size === MAX_SHAPES && !suspicions.has(shape)) suspicions.clear()
  suspicions.set(shape, sum)
  return sum
}
