/** So many failures in a row open the breaker. */
const TOLERATED = 5
/** How long it is until the first probe, on average, ms; each that fails doubles it. */
const FIRST_PROBE_MS = 250
/** The longest that it is until a probe, on average, ms. */
const LAST_PROBE_MS = 2000
/** Closed for so long, ms, it starts from the first probe again: until then the store flaps. */
const STEADY_MS = 10_000

/**
 * Tells whether a store is worth asking. Closed: yes. Open: no, but for probes, which come further
 * apart as they fail, and at random, so that a fleet's don't come together.
 *
 * All times are on the clock of `performance.now()`, ms: a wall clock that is set back would keep
 * it open for as long.
 */
export class Breaker {
  isOpen = false
  private failures = 0
  /** When the call was made that failed last. */
  private failedAt = Number.NEGATIVE_INFINITY
  private probes = 0
  private probeAt = 0
  private closedAt = Number.NEGATIVE_INFINITY

  succeeded(): void {
    this.failures = 0
  }

  /**
   * Calls that were made within the same ms count as one: what befell one befell the others.
   *
   * @param askedAt when the call was made
   * @param final whether it is enough to open it
   * @returns true if this opens it
   */
  failed(askedAt: number, now: number, final: boolean): boolean {
    if (this.isOpen) return false
    if (askedAt - this.failedAt >= 1) {
      this.failures += 1
      this.failedAt = askedAt
    }
    if (this.failures < TOLERATED && !final) return false
    this.isOpen = true
    if (now - this.closedAt > STEADY_MS) this.probes = 0
    this.schedule(now)
    return true
  }

  /** Open, and it is time to try the store. */
  isProbeDue(now: number): boolean {
    return this.isOpen && now >= this.probeAt
  }

  /** Something has come back: the next probe need not wait. */
  hasten(now: number): void {
    this.probeAt = now
  }

  /** Sets the time of the next probe. */
  schedule(now: number): void {
    const mean = Math.min(FIRST_PROBE_MS * 2 ** this.probes, LAST_PROBE_MS)
    this.probes += 1
    this.probeAt = now + mean * (0.5 + Math.random())
  }

  close(now: number): void {
    this.isOpen = false
    this.failures = 0
    this.closedAt = now
  }
}
