/** The place on an object for the limiters that have decided what it stands for. */
const DECIDED = Symbol('sluice.decided')

/** The limiters of an object, the last one first. */
interface Decided {
  readonly limiter: object
  /** The object itself: one that has it as its prototype stands for another request. */
  readonly subject: object
  readonly earlier: Decided | undefined
}

type Marked = { [DECIDED]?: Decided }

/**
 * Whether a limiter has decided a request before: the same limiter may be on its way several times, on
 * the application and on a router for instance.
 *
 * @param subject stands for the request wherever it passes a limiter. What is no object has passed none
 */
export function isDecided(subject: object, limiter: object): boolean {
  const last = (subject as Marked | undefined)?.[DECIDED]
  for (let each = last; each !== undefined && each.subject === subject; each = each.earlier)
    if (each.limiter === limiter) return true
  return false
}

/** Notes that a limiter has decided a request. */
export function noteDecided(subject: object, limiter: object): void {
  const marked = subject as Marked
  marked[DECIDED] = { limiter, subject, earlier: marked[DECIDED] }
}
