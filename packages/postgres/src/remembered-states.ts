/** The most keys of which a process remembers the state, and the most characters of all their states. */
const MAX_KEYS = 10_000
const MAX_CHARACTERS = 8_000_000

/** The state of a key when this process saw it last. */
export interface Remembered {
  /** In hex; undefined: nothing. */
  readonly state: string | undefined
  /** The server's time then, ms. */
  readonly at: number
  /** Whether the key may hold something else by now: others use it too. */
  isStale: boolean
}

/** The states of the keys that a process used last. */
export class RememberedStates {
  readonly #byKey = new Map<string, Remembered>()
  #characters = 0

  get(key: string): Remembered | undefined {
    return this.#byKey.get(key)
  }

  set(key: string, state: string | undefined, at: number, isStale: boolean): void {
    // The newest is the last.
    this.#forget(key)
    this.#byKey.set(key, { state, at, isStale })
    this.#characters += state?.length ?? 0
    while (this.#byKey.size > MAX_KEYS || this.#characters > MAX_CHARACTERS)
      this.#forget(this.#byKey.keys().next().value as string)
  }

  #forget(key: string): void {
    this.#characters -= this.#byKey.get(key)?.state?.length ?? 0
    this.#byKey.delete(key)
  }
}
