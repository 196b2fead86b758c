/** A key is contended for so long, ms. */
const CONTENDED_MS = 1000
/** The most of them that are known. */
const MAX_CONTENDED = 1000

/** Keys that others have changed between two round trips: for a while they must be locked. */
export class ContendedKeys {
  /** Until when, by `performance.now()`. */
  readonly #until = new Map<string, number>()

  has(key: string): boolean {
    const until = this.#until.get(key)
    if (until === undefined) return false
    if (performance.now() < until) return true
    this.#until.delete(key)
    return false
  }

  add(key: string): void {
    if (this.#until.size >= MAX_CONTENDED) this.#until.clear()
    this.#until.set(key, performance.now() + CONTENDED_MS)
  }
}
