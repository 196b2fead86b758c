import { warnOnce } from '../errors/warning.ts'

/** Limiters with the same options, each used only once, before the warning. */
const SUSPICIOUS = 10
/** The most different limiters that are counted at the same time. */
const MAX_SHAPES = 100

/** How many limiters of each shape were used only in the turn in which they were made. */
const unused = new Map<string, number>()
let hasWarned = false

/** Advanced by a microtask after each turn in which a limiter was made. */
let turn = 0
let counting = false

/**
 * Whether a limiter with its own memory store is used only in the turn in which it was made. If one is made for
 * each request, it never limits, because it counts nothing else.
 */
export class SingleUse {
  readonly #shape: string
  readonly #madeIn = turn
  #suspected = false

  private constructor(shape: string) {
    this.#shape = shape
  }

  /** @param shape equal for all limiters made by the same code */
  static start(shape: string): SingleUse | undefined {
    if (hasWarned) return undefined
    if (!counting) {
      counting = true
      // Not a timer: tests may replace timers.
      void Promise.resolve().then(endTurn)
    }
    return new SingleUse(shape)
  }

  /** Call it with each use until it returns true: then it is used again, or the warning was given. */
  isRuledOut(): boolean {
    if (turn === this.#madeIn) {
      if (!this.#suspected) this.#suspect()
      return hasWarned
    }
    this.end()
    return true
  }

  /** A closed limiter was made with care, so it does not count. */
  end(): void {
    if (this.#suspected) add(this.#shape, -1)
    this.#suspected = false
  }

  #suspect(): void {
    this.#suspected = true
    if (add(this.#shape, 1) < SUSPICIOUS) return
    hasWarned = true
    unused.clear()
    warnOnce(
      'SLUICE_MADE_PER_REQUEST',
      `${SUSPICIOUS} limiters with the same options were each used immediately and never again. ` +
        'A limiter created in a request handler counts only one request and never limits. Create ' +
        'it once, outside the handler, and use it for every request.',
    )
  }
}

function endTurn(): void {
  counting = false
  turn += 1
}

/** @returns how many there are now */
function add(shape: string, one: 1 | -1): number {
  const count = Math.max(0, (unused.get(shape) ?? 0) + one)
  if (unused.size === MAX_SHAPES && !unused.has(shape)) unused.clear()
  unused.set(shape, count)
  return count
}
