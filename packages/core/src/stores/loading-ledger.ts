import type { Change, GrantResult, Ledger, OnIncrease, Requests } from './store.ts'

/**
 * A ledger whose code is loaded while the application starts. Calls that come before it is there are made then, in
 * their order; they fail if it can't be loaded, and the next call tries again.
 */
export class LoadingLedger implements Ledger<'async'> {
  readonly shard: Ledger['shard']
  readonly #load: () => Promise<Ledger<'async'>>
  #ledger: Ledger<'async'> | undefined
  #loading: Promise<Ledger<'async'>> | undefined

  constructor(load: () => Promise<Ledger<'async'>>, shard?: Ledger['shard']) {
    this.#load = load
    this.shard = shard
    void this.#loaded()
  }

  decide(requests: Requests, isPeek?: boolean) {
    const ledger = this.#ledger
    if (ledger !== undefined) return ledger.decide(requests, isPeek)
    return this.#loaded().then((ready) => ready.decide(requests, isPeek))
  }

  change(change: Change, onIncrease?: OnIncrease): Promise<GrantResult | undefined> {
    const ledger = this.#ledger
    if (ledger !== undefined) return ledger.change(change, onIncrease)
    return this.#loaded().then((ready) => ready.change(change, onIncrease))
  }

  /** Resolves when it is loaded, or can't be. */
  async ready(): Promise<void> {
    await this.#loading?.catch(() => {})
  }

  #loaded(): Promise<Ledger<'async'>> {
    if (this.#loading === undefined) {
      this.#loading = this.#load()
      // It follows before all calls that wait: so none that comes later is made before them.
      this.#loading.then(
        (ledger) => {
          this.#ledger = ledger
        },
        () => {
          this.#loading = undefined
        },
      )
    }
    return this.#loading
  }
}
