/**
 * Places of those who wait. One client can't take them all: it gets another one only while it has fewer than are free,
 * so alone it has half of them, rounded up, and together with others less.
 */
export class Places {
  readonly #most: number
  taken = 0
  /** How many each client has taken. */
  readonly #takenBy = new Map<string, number>()

  /** @param most how many there are */
  constructor(most: number) {
    this.#most = most
  }

  /** @returns false if none is free for the client */
  take(client: string): boolean {
    const own = this.#takenBy.get(client) ?? 0
    if (own >= this.#most - this.taken) return false
    this.taken += 1
    this.#takenBy.set(client, own + 1)
    return true
  }

  /** Gives back one that the client has taken. */
  free(client: string): void {
    this.taken -= 1
    const own = (this.#takenBy.get(client) as number) - 1
    if (own === 0) this.#takenBy.delete(client)
    else this.#takenBy.set(client, own)
  }
}
