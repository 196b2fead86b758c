/** The most keys of which a process remembers the state, and the longest state, characters: 7 MB in all. */
const MAX_KEYS = 10_000
const MAX_LENGTH = 512

/** What a key held when this process saw it last. */
export interface Remembered {
  /** In hex; undefined: nothing. */
  readonly state: string | undefined
  /** The server's time then, ms. */
  readonly at: number
  /** Whether the key may hold something else by now: others use it too, or its state is too long to remember. */
  isStale: boolean
}

/** The states of the keys that a process used last. */
export class RememberedStates {
  private readonly byKey = new Map<string, Remembered>()

  get(key: string): Remembered | undefined {
    return this.byKey.get(key)
  }

  set(key: string, state: string | undefined, at: number, isStale: boolean): void {
    const isLong = state !== undefined && state.length > MAX_LENGTH
    // The newest is the last.
    this.byKey.delete(key)
    if (this.byKey.size >= MAX_KEYS) this.byKey.delete(this.byKey.keys().next().value as string)
    this.byKey.set(key, { state: isLong ? undefined : state, at, isStale: isStale || isLong })
  }
}
