import { Heap } from 'heap-js'

interface Item<T> {
  readonly atMs: number
  readonly value: T
}

/** What happens later in the log's time. */
export class Agenda<T> {
  readonly #items = new Heap<Item<T>>((one, other) => one.atMs - other.atMs)
  readonly #happen: (atMs: number, value: T) => void

  /** @param happen called for each in the order of time */
  constructor(happen: (atMs: number, value: T) => void) {
    this.#happen = happen
  }

  add(atMs: number, value: T): void {
    this.#items.push({ atMs, value })
  }

  /** Lets all happen that is due up to then. */
  runUntil(timeMs: number): void {
    for (;;) {
      const first = this.#items.peek()
      if (first === undefined || first.atMs > timeMs) return
      this.#items.pop()
      this.#happen(first.atMs, first.value)
    }
  }
}
