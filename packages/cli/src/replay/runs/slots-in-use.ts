import { Heap } from 'heap-js'

interface Use<T> {
  readonly endMs: number
  readonly request: T
}

/** The requests of a replay that are in progress, until they release their slots. */
export class SlotsInUse<T> {
  readonly #uses = new Heap<Use<T>>((one, other) => one.endMs - other.endMs)

  add(endMs: number, request: T): void {
    this.#uses.push({ endMs, request })
  }

  /** Takes out the next request that has ended until then, the first to end first. */
  next(nowMs: number): Use<T> | undefined {
    const first = this.#uses.peek()
    if (first === undefined || first.endMs > nowMs) return undefined
    return this.#uses.pop()
  }
}
