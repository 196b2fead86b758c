import { warnOnce } from '../errors/warning.ts'

/** Limiters with the same terms, each used only once, before the warning. */
const SUSPICIOUS = 10
/** Terms that are watched at a time. */
const MAX_SHAPES = 100

/** How many limiters there are of each shape that were used in the turn they were made in alone. */
const unused = new Map<string, number>()
let hasWarned = false

/** Counted on by a microtask after each turn in which a limiter was made. */
let turn = 0
let counting = false

/**
 * Looks at a limiter with a memory store of its own: one that is made for each request, and used for
 * it alone, never limits, because it has counted nothing else.
 */
export class Watch {
  private readonly shape: string
  private readonly madeIn = turn
  private suspected = false

  private constructor(shape: string) {
    this.shape = shape
  }

  /** @param shape what limiters that are made in one place have in common */
  static start(shape: string): Watch | undefined {
    if (hasWarned) return undefined
    if (!counting) {
      counting = true
      // Not a timer: those may stand still in tests.
      void Promise.resolve().then(endTurn)
    }
    return new Watch(shape)
  }

  /** To be called with each use, until it gives true: then there is no more to see. */
  isOver(): boolean {
    if (turn === this.madeIn) {
      if (!this.suspected) this.suspect()
      return hasWarned
    }
    if (this.suspected) add(this.shape, -1)
    return true
  }

  /** A limiter that is closed was not forgotten. */
  end(): void {
    if (this.suspected) add(this.shape, -1)
    this.suspected = false
  }

  private suspect(): void {
    this.suspected = true
    if (add(this.shape, 1) < SUSPICIOUS) return
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
