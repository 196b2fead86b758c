import { SluiceError } from '../../errors/sluice-error.ts'
import { typeOf } from '../../errors/thrown.ts'
import { warn } from '../../errors/warning.ts'
import { type StoreEvent, storeEvents } from '../../events.ts'

/** Failures in a row that open the breaker. */
const TOLERATED = 5
/** The average wait for the first probe, ms; each failed probe doubles it. */
const FIRST_PROBE_MS = 250
/** The longest average wait for a probe, ms. */
const LAST_PROBE_MS = 2000
/** How long the breaker must stay closed, ms, before the waits start again from the first. */
const STEADY_MS = 10_000

/**
 * Says whether to call a store. Closed: yes. Open: only probes, at growing intervals with a random
 * part, so that the probes of many processes don't come together.
 *
 * All times are on the clock of `performance.now()`, ms: a wall clock that is set back would keep
 * it open for that long.
 */
export class Breaker {
  isOpen = false
  /** Calls that failed, one after the other. */
  failures = 0
  /** When the last failed call was made. */
  #failedAt = Number.NEGATIVE_INFINITY
  #probes = 0
  #probeAt = 0
  #closedAt = Number.NEGATIVE_INFINITY

  succeeded(): void {
    this.failures = 0
  }

  /**
   * Calls that were made within the same ms count as one: they have the same cause.
   *
   * @param askedAt when the call was made
   * @param final whether it is enough to open it
   * @returns true if this opens it
   */
  failed(askedAt: number, now: number, final: boolean): boolean {
    if (this.isOpen) return false
    if (askedAt - this.#failedAt >= 1) {
      this.failures += 1
      this.#failedAt = askedAt
    }
    if (this.failures < TOLERATED && !final) return false
    this.isOpen = true
    if (now - this.#closedAt > STEADY_MS) this.#probes = 0
    this.schedule(now)
    return true
  }

  /** Open, and it is time to try the store. */
  isProbeDue(now: number): boolean {
    return this.isOpen && now >= this.#probeAt
  }

  /** An answer has come back: the next probe can start immediately. */
  hasten(now: number): void {
    this.#probeAt = now
  }

  /** Sets the time of the next probe. */
  schedule(now: number): void {
    const mean = Math.min(FIRST_PROBE_MS * 2 ** this.#probes, LAST_PROBE_MS)
    this.#probes += 1
    this.#probeAt = now + mean * (0.5 + Math.random())
  }

  close(now: number): void {
    this.isOpen = false
    this.failures = 0
    this.#closedAt = now
  }
}

let stores = 0

/**
 * Warns once of each change of a remote store's health, and publishes it: when the first of its shards is
 * given up, when it is known that the set-up can't work, and when all shards work again.
 */
export class StoreHealth {
  readonly #number: number
  #downs = 0
  #isExplained = false

  constructor() {
    stores += 1
    this.#number = stores
  }

  /** A shard of the store is given up. */
  down(reason: unknown): void {
    this.#downs += 1
    if (reason instanceof SluiceError) this.setUpFails(reason)
    else if (this.#downs === 1) this.#reportDown(reason)
  }

  /** The set-up can't work. This may become known only after the shard was given up. */
  setUpFails(reason: SluiceError): void {
    if (this.#isExplained) return
    this.#isExplained = true
    this.#reportDown(reason)
  }

  /** A shard works again. */
  up(): void {
    this.#downs -= 1
    if (this.#downs > 0) return
    this.#isExplained = false
    warn('SLUICE_STORE_UP', 'The store has recovered, and decides again.')
    this.#publish('up')
  }

  /** Publishes that a store that was down is closed: nothing uses it any more. */
  close(): void {
    if (this.#downs > 0) this.#publish('closed')
  }

  #reportDown(reason: unknown): void {
    const text = reason instanceof Error ? reason.message : String(reason)
    warn('SLUICE_STORE_DOWN', `The store failed, and is not used until it recovers: ${text}`)
    this.#publish('down', text, typeOf(reason))
  }

  #publish(state: StoreEvent['state'], reason?: string, errorType?: string): void {
    if (!storeEvents.hasSubscribers) return
    storeEvents.publish({ store: this.#number, state, reason, errorType })
  }
}
