/** A request that waits for a place. */
export interface Waiter {
  /** The index of its class. */
  readonly importance: number
  readonly key: string
  /** When it began to wait, ms. */
  readonly since: number
  /** Called once, later than `Admission.wait` returns: with true if it may begin, with false if it is shed. */
  settle: (begins: boolean) => void
}

/** The requests of a class that wait. Their keys take turns, and each key's first request comes first. */
export class ClassLine {
  size = 0
  /** The requests of each key, in the order of the keys' turns. */
  private readonly keys = new Map<string, Waiter[]>()

  add(waiter: Waiter): void {
    const own = this.keys.get(waiter.key)
    if (own === undefined) this.keys.set(waiter.key, [waiter])
    else own.push(waiter)
    this.size += 1
  }

  /** Takes the request whose turn it is. */
  shift(): Waiter | undefined {
    const [turn] = this.keys
    if (turn === undefined) return undefined
    const [key, own] = turn
    const waiter = own.shift() as Waiter
    this.keys.delete(key)
    if (own.length > 0) this.keys.set(key, own)
    this.size -= 1
    return waiter
  }

  /** How many requests of a key wait. */
  countOf(key: string): number {
    return this.keys.get(key)?.length ?? 0
  }

  /** The newest request of the key that has the most. */
  longest(): Waiter | undefined {
    let longest: Waiter[] = []
    for (const own of this.keys.values()) if (own.length >= longest.length) longest = own
    return longest.at(-1)
  }

  /** @returns false if it does not wait here any more */
  delete(waiter: Waiter): boolean {
    const own = this.keys.get(waiter.key)
    const index = own?.indexOf(waiter) ?? -1
    if (own === undefined || index < 0) return false
    own.splice(index, 1)
    if (own.length === 0) this.keys.delete(waiter.key)
    this.size -= 1
    return true
  }

  /** The requests that have waited since before a moment. */
  before(moment: number): Waiter[] {
    return [...this.keys.values()].flatMap((own) => own.filter(({ since }) => since < moment))
  }
}
