/** The requests that the application still works for. */
export class Work {
  /** False: it responds at once. */
  takesTime = true
  readonly #ends: (() => void)[] = []

  readonly begin = (): Promise<void> =>
    this.takesTime ? new Promise((resolve) => this.#ends.push(resolve)) : Promise.resolve()

  /** Requests that it has begun and not ended. */
  get inProgress(): number {
    return this.#ends.length
  }

  /** Ends the one that has been in progress for longest, or all. */
  end(count = 1): void {
    for (const end of this.#ends.splice(0, count)) end()
  }
}
