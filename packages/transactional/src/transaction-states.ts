import { endOf } from '@sluice/core/internal-stores'
import {
  decodeOwn,
  decodeState,
  encodeOwn,
  encodeState,
  type KeyState,
  type OwnTerms,
} from '@sluice/core/store'
import type { States } from './growing-transactions.ts'
import { markState, stateIn, unmarkedUntil, withEnd } from './state-end.ts'
import type { StateChange } from './transactional-backend.ts'

/** A state that a transaction is about. */
export interface TouchedState {
  readonly name: string
  /** The key of the client's own record; undefined: it has none there. */
  readonly own?: string | undefined
  /** Whether that may be changed. */
  readonly changesOwn?: boolean
}

/** The states of a transaction, by the names of their keys. */
export class TransactionStates {
  /** The bytes under the keys, after the changes. */
  readonly #bytes: Map<string, Uint8Array | undefined>
  readonly #now: number
  readonly #keptUntil: number
  readonly #states = new Map<string, KeyState>()
  readonly #changed = new Map<string, StateChange>()

  /**
   * @param now ms
   * @param keptUntil see `LedgerKeyspaces.keptUntil`
   */
  constructor(bytes: States, now: number, keptUntil: number) {
    this.#bytes = new Map(bytes)
    this.#now = now
    this.#keptUntil = keptUntil
  }

  /** Until when it is known that the client of a state has nothing of its own, ms; 0: that is not known now. */
  unmarkedUntil({ name, own }: TouchedState): number {
    const until = unmarkedUntil(this.#bytes.get(name))
    return until > this.#now && this.#bytes.get(own as string) === undefined ? until : 0
  }

  /**
   * The transaction has read the client's own record, unless the state says that there is none.
   *
   * @throws RangeError if a key holds something else
   */
  of(touched: TouchedState): KeyState {
    let state = this.#states.get(touched.name)
    if (state === undefined) {
      state = decodeState(stateIn(this.#bytes.get(touched.name)))
      this.#states.set(touched.name, state)
    }
    state.terms = this.own(touched)
    return state
  }

  /** A client's own limit, top-ups and block. @throws RangeError if the key holds something else */
  own({ own }: TouchedState): OwnTerms | undefined {
    return own === undefined ? undefined : decodeOwn(this.#bytes.get(own))
  }

  /** @param ttlMs how long it must be kept */
  putOwn(name: string, terms: OwnTerms | undefined, ttlMs: number): void {
    this.#change({ key: name, state: terms && encodeOwn(terms), ttlMs })
  }

  /** Marks a state, so that decisions read the record of its client. A key that holds no state is left as it is. */
  mark(name: string): void {
    const bytes = this.#bytes.get(name)
    const until = unmarkedUntil(bytes)
    if (until === 0) return
    const ttlMs = Math.max(1, until - this.#now)
    this.#change({ key: name, state: markState(bytes as Uint8Array), ttlMs })
  }

  /**
   * Changes a state, and deletes the record of its client if all of that has ended.
   *
   * @param ttlMs how long it must be kept; 0: it is deleted
   */
  put({ name, own }: TouchedState, state: KeyState, ttlMs: number): void {
    this.#states.set(name, state)
    if (ttlMs === 0) {
      this.#change({ key: name, state: undefined, ttlMs })
      return
    }
    if (own !== undefined && state.terms !== undefined && endOf(state.terms) <= this.#now)
      this.putOwn(own, undefined, 0)
    const end = this.#now + ttlMs
    const isMarked =
      own !== undefined && (this.#bytes.get(own) !== undefined || end > this.#keptUntil)
    this.#change({ key: name, state: withEnd(encodeState(state), end, isMarked), ttlMs })
  }

  /** Forgets the changes of a refusal to a state that is not kept: the next decision may have another limit. */
  restore(name: string): void {
    this.#states.delete(name)
  }

  changes(): StateChange[] {
    return [...this.#changed.values()]
  }

  #change(change: StateChange): void {
    this.#bytes.set(change.key, change.state)
    this.#changed.set(change.key, change)
  }
}
