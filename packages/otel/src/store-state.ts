import type { DecisionEvent, StoreEvent } from '@sluice/core'

/** Sources of decisions that were made because the store failed. */
const STAND_INS: readonly DecisionEvent['source'][] = ['local', 'allow', 'deny']

/** Which stores of the process are down, and why. */
export class StoreState {
  /** The type of the error, by the number of the store. */
  readonly #down = new Map<number, string>()

  get isAvailable(): boolean {
    return this.#down.size === 0
  }

  hear({ store, state, errorType }: StoreEvent): void {
    this.#down.delete(store)
    if (state === 'down') this.#down.set(store, errorType as string)
  }

  /**
   * Why the store did not decide; undefined if it did. Of several stores that are down, the last.
   * `_OTHER` for the few failures before a store is given up.
   */
  errorOf({ source }: DecisionEvent): string | undefined {
    if (!STAND_INS.includes(source)) return undefined
    return [...this.#down.values()].at(-1) ?? '_OTHER'
  }
}
