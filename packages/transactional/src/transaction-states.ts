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
  unmarkedUntil(name: string, own: string): number {
    const until = unmarkedUntil(this.#bytes.get(name))
    return until > this.#now && this.#bytes.get(own) === undefined ? until : 0
  }

  /**
   * @param own the key of the client's own record, which the transaction has read unless the state says that
   *   there is nothing
   * @throws RangeError if a key holds something else
   */
  of(name: string, own?: string): KeyState {
    let state = this.#states.get(name)
    if (state === undefined) {
      state = decodeState(stateIn(this.#bytes.get(name)))
      this.#states.set(name, state)
    }
    state.terms = this.own(own)
    return state
  }

  loaded(name: string): KeyState {
    return this.#states.get(name) as KeyState
  }

  /** A client's own limit, top-ups and block. @throws RangeError if the key holds something else */
  own(name: string | undefined): OwnTerms | undefined {
    return name === undefined ? undefined : decodeOwn(this.#bytes.get(name))
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
   * @param ttlMs how long it must be kept; 0: it is deleted
   * @param own the key of the client's own record, which is deleted too if all of it has ended
   */
  put(name: string, state: KeyState, ttlMs: number, now: number, own?: string): void {
    this.#states.set(name, state)
    if (ttlMs === 0) {
      this.#change({ key: name, state: undefined, ttlMs })
      return
    }
    if (own !== undefined && state.terms !== undefined && endOf(state.terms) <= now)
      this.putOwn(own, undefined, 0)
    const end = now + ttlMs
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
