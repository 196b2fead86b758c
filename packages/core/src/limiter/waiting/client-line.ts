/** Somebody who waits, for a client. */
export interface OfClient {
  /** The key of the client. */
  readonly client: string
}

/** A line whose clients take turns: the first one of each, then the second one of each, and so on. */
export class ClientLine<Waiter extends OfClient> {
  size = 0
  /** The waiters of each client, in the order of the clients' turns. */
  readonly #clients = new Map<string, Set<Waiter>>()

  add(waiter: Waiter): void {
    const own = this.#clients.get(waiter.client)
    if (own === undefined) this.#clients.set(waiter.client, new Set([waiter]))
    else own.add(waiter)
    this.size += 1
  }

  /** The client whose turn it is. */
  get head(): Waiter | undefined {
    for (const own of this.#clients.values()) for (const waiter of own) return waiter
    return undefined
  }

  /**
   * Takes one out of the line. If it was its turn, it is that of the next client.
   * @returns false if it was not there
   */
  delete(waiter: Waiter): boolean {
    const own = this.#clients.get(waiter.client)
    const isHead = waiter === this.head
    if (own === undefined || !own.delete(waiter)) return false
    if (isHead || own.size === 0) this.#clients.delete(waiter.client)
    if (isHead && own.size > 0) this.#clients.set(waiter.client, own)
    this.size -= 1
    return true
  }

  /** How many wait for a client. */
  countOf(client: string): number {
    return this.#clients.get(client)?.size ?? 0
  }

  /** The newest one of the client that has the most. */
  longest(): Waiter | undefined {
    let longest: ReadonlySet<Waiter> = new Set()
    for (const own of this.#clients.values()) if (own.size >= longest.size) longest = own
    return [...longest].at(-1)
  }

  /** All who wait, in the order of their turns. */
  *[Symbol.iterator](): Generator<Waiter, void> {
    let open = [...this.#clients.values()].map((own) => own.values())
    while (open.length > 0) {
      const more: typeof open = []
      for (const own of open) {
        const next = own.next()
        if (next.done) continue
        yield next.value
        more.push(own)
      }
      open = more
    }
  }
}
