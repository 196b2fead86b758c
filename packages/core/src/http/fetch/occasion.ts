/** Calls back once, when it happens; immediately if it has happened. */
export class Occasion {
  happened = false
  private readonly callbacks = new Set<() => void>()

  get isAwaited(): boolean {
    return this.callbacks.size > 0
  }

  /** @returns a function that cancels it */
  on(callback: () => void): () => void {
    if (this.happened) callback()
    else this.callbacks.add(callback)
    return () => void this.callbacks.delete(callback)
  }

  happen(): void {
    if (this.happened) return
    this.happened = true
    const callbacks = [...this.callbacks]
    this.callbacks.clear()
    for (const each of callbacks) each()
  }
}
