import { LoadingLedger } from '../../stores/loading-ledger.ts'
import type { Ledger } from '../../stores/store.ts'
import type { LeaseLedger } from './lease-ledger.ts'

/** The leases of one limiter. The code for them is loaded here, since most limiters have none. */
export class Leases {
  readonly #leaseMs: number
  readonly #clock: () => number
  #ledger: LeaseLedger | undefined
  #isClosed = false

  /**
   * @param leaseMs for how long units are leased at most, ms
   * @param clock see `Store.clock`
   */
  constructor(leaseMs: number, clock: (() => number) | undefined) {
    this.#leaseMs = leaseMs
    this.#clock = clock ?? (() => performance.now())
  }

  /** The limiter's ledger, which it opens once, with leases. */
  on(remote: Ledger): Ledger<'async'> {
    const store = remote as Ledger<'async'>
    return new LoadingLedger(async () => {
      const { LeaseLedger } = await import('./lease-ledger.ts')
      if (store instanceof LoadingLedger) await store.ready()
      this.#ledger = new LeaseLedger(store, this.#leaseMs, this.#clock)
      if (this.#isClosed) this.#ledger.close()
      return this.#ledger
    }, remote.shard)
  }

  /** Gives back what is leased, and leases no more. */
  close(): void {
    this.#isClosed = true
    this.#ledger?.close()
  }
}
