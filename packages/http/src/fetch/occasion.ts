/** Calls back once, when it happens; immediately if it has happened. */
export class Occasion {
  happened = false
  /** Undefined until there is one: of most requests, nobody asks. */
  #callbacks: Set<() => void> | undefined

  get isAwaited(): boolean {
    return this.#callbacks !== undefined && this.#callbacks.size > 0
  }

  /** @returns a function that cancels it */
  on(callback: () => void): () => void {
    if (this.happened) callback()
    else {
      this.#callbacks ??= new Set()
      this.#callbacks.add(callback)
    }
    return () => void this.#callbacks?.delete(callback)
  }

  happen(): void {
    if (this.happened) return
    this.happened = true
    const callbacks = this.#callbacks
    if (callbacks === undefined) return
    this.#callbacks = undefined
    for (const each of callbacks) each()
  }
}
