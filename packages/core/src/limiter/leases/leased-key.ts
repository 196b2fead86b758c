import type { Charge, StoreResult } from '../../stores/store.ts'
import type { Lease } from './lease.ts'

/** So many requests in the time of a lease pay for one. */
const ENOUGH = 4
/** The part of what remains that is taken in advance at most. */
const PART = 1 / 4

/** What is known of a key that was asked for lately; with several policies, of the keys of a request together. */
export class LeasedKey {
  readonly keys: readonly string[]
  lease: Lease | undefined
  /** Whether the store was asked for a lease, and has not answered. */
  isTaking = false
  /** Whether it was blocked, reset or given another limit meanwhile, so that a lease on its way must not be used. */
  isOver = false
  readonly #leaseMs: number
  #calls = 0
  /** The number of the last call that was answered: answers may overtake each other. */
  #learnedFrom = 0
  /** When the present period, as long as a lease, began: ms. */
  #beganAt = -Infinity
  #asked = 0
  #askedBefore = 0
  /** Units of each policy that were admitted in this period, and in the one before. */
  #used: number[]
  #usedBefore: number[]
  /** What the store had left for each policy, by its last answer. */
  #remaining: readonly number[] | undefined

  constructor(keys: readonly string[], leaseMs: number) {
    this.keys = keys
    this.#leaseMs = leaseMs
    this.#used = keys.map(() => 0)
    this.#usedBefore = this.#used
  }

  /** Counts a request. */
  asks(now: number): void {
    const passedMs = now - this.#beganAt
    if (passedMs >= this.#leaseMs || passedMs < 0) {
      const isNext = passedMs < 2 * this.#leaseMs && passedMs >= 0
      const none = this.keys.map(() => 0)
      this.#askedBefore = isNext ? this.#asked : 0
      this.#usedBefore = isNext ? this.#used : none
      this.#asked = 0
      this.#used = [...none]
      this.#beganAt = now
    }
    this.#asked += 1
  }

  /** Call it when the store is called. @returns the number of the call: the store decides in their order */
  calls(): number {
    this.#calls += 1
    return this.#calls
  }

  /** Counts what was admitted. */
  uses(charges: readonly Charge[]): void {
    for (let i = 0; i < charges.length; i += 1)
      this.#used[i] = (this.#used[i] as number) + (charges[i] as Charge).cost
  }

  /** Learns from an answer of the store, or in its place, to a request. */
  learn(charges: readonly Charge[], result: StoreResult | Error | undefined, call: number): void {
    if (result === undefined || result instanceof Error || !isOfStore(result)) {
      this.#remaining = undefined
      return
    }
    if (result.admitted) this.uses(charges)
    this.leaves(result, call)
  }

  /** Learns what the store had left after a call. */
  leaves({ outcomes }: StoreResult, call: number): void {
    if (call < this.#learnedFrom) return
    this.#learnedFrom = call
    this.#remaining = outcomes.map(({ remaining }) => remaining)
    this.lease?.charged(this.#remaining)
  }

  begins(lease: Lease): void {
    this.lease = lease
    // A call that was made later may have been answered before.
    if (this.#remaining !== undefined) lease.charged(this.#remaining)
  }

  /**
   * What to take in advance behind a request; undefined if that would not pay, or if too little remains. It is at most
   * what was used in the time of a lease, and at most a quarter of what remains.
   */
  ahead(charges: readonly Charge[]): Charge[] | undefined {
    const remaining = this.#remaining
    if (remaining === undefined || Math.max(this.#asked, this.#askedBefore) < ENOUGH)
      return undefined
    const taken = charges.map(({ limit, cost }, i) => {
      const used = Math.max(this.#used[i] as number, this.#usedBefore[i] as number)
      const left = Math.floor(((remaining[i] as number) - cost) * PART)
      return { key: this.keys[i] as string, limit, cost: Math.min(used, left) }
    })
    return taken.every(({ cost }) => cost > 0) ? taken : undefined
  }
}

/** Whether the store has decided every charge. */
export function isOfStore({ source, origins }: StoreResult): boolean {
  return source === 'store' && (origins?.every((origin) => origin.source === 'store') ?? true)
}
