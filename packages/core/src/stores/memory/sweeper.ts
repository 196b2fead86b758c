import { inBackground } from '#platform'

/** How long a slice takes, ms: it ends with the first pass beyond it. */
const SLICE_MS = 1
/** The pause between two slices, ms. */
const BREAK_MS = 5
/** The shortest pause between two sweeps, ms. */
const PAUSE_MS = 1000
/** The longest time that a timer takes. */
const LONGEST_MS = 2 ** 31 - 1

/** A table whose ended rows the sweeper frees. */
interface Expiring {
  /** The earliest time at which something can be freed, ms. */
  readonly dueAt: number
  /** Frees a part of what can be freed at `now`. */
  sweep(now: number): void
}

/** Stores that are no longer referenced leave no timer behind. */
const abandoned = new FinalizationRegistry<{ cancel(): void }>((alarm) => alarm.cancel())

/**
 * Frees expired keys in the background. It has a timer only while a key will expire,
 * one for all keys; that keeps neither the process nor the store alive.
 */
export class TableSweeper {
  /** When it runs next, ms on the store's clock; `Infinity` without a key that expires. */
  nextAt = Infinity
  readonly #tables: readonly (readonly Expiring[])[]
  readonly #clock: () => number
  readonly #self = new WeakRef(this)
  readonly #alarm = { cancel() {} }
  #setAt = 0
  #closed = false

  constructor(tables: readonly (readonly Expiring[])[], clock: () => number) {
    this.#tables = tables
    this.#clock = clock
    abandoned.register(this, this.#alarm)
  }

  /** Makes it run when a key expires, or soon after it. */
  schedule(dueAt: number, now: number): void {
    const at = Math.max(dueAt, now + PAUSE_MS)
    if (at < this.nextAt && !this.#closed) this.#set(now, at - now)
  }

  close(): void {
    this.#closed = true
    this.#alarm.cancel()
    this.nextAt = Infinity
  }

  /** Called by the timer. */
  sweep(): void {
    const now = this.#clock()
    this.nextAt = Infinity
    if (this.#freeSlice(now)) this.#set(now, BREAK_MS)
    // With a clock that a test has stopped, it would run forever: the next key that is kept restarts it.
    else if (now !== this.#setAt) this.schedule(this.#dueAt(), now)
  }

  /** Frees expired entries until a slice is used up; true if there is more. */
  #freeSlice(now: number): boolean {
    const until = performance.now() + SLICE_MS
    for (const table of this.#tables.flat()) {
      while (table.dueAt <= now) {
        table.sweep(now)
        if (performance.now() >= until) return this.#dueAt() <= now
      }
    }
    return false
  }

  #dueAt(): number {
    return this.#tables.flat().reduce((earliest, { dueAt }) => Math.min(earliest, dueAt), Infinity)
  }

  #set(now: number, delayMs: number): void {
    const ms = Math.min(delayMs, LONGEST_MS)
    this.#alarm.cancel()
    this.#alarm.cancel = sweepLater(this.#self, ms)
    this.#setAt = now
    this.nextAt = now + ms
  }
}

/** Returns a function that cancels it. */
function sweepLater(sweeper: WeakRef<TableSweeper>, ms: number): () => void {
  return inBackground(() => sweeper.deref()?.sweep(), ms)
}
