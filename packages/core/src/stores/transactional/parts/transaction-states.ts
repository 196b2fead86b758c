import type { KeyState } from '../../../algorithms/algorithm.ts'
import { decodeState, encodeState } from '../../rules/state-bytes.ts'
import type { States } from '../growing-transactions.ts'
import type { StateChange } from '../transactional-backend.ts'
import { decodePartedEntries, encodePartedEntries } from './parted-entries.ts'
import { Parts } from './parts.ts'

/** The states of a transaction, by the names of their keys. */
export class TransactionStates {
  /** What is under the keys, as it is after the changes. */
  private readonly bytes: Map<string, Uint8Array | undefined>
  private readonly states = new Map<string, KeyState>()
  /** The states that were read, also those that are forgotten. */
  readonly seen = new Map<string, KeyState>()
  private readonly changed = new Map<string, StateChange>()

  constructor(bytes: States) {
    this.bytes = new Map(bytes)
  }

  /** @throws RangeError if the key holds no state */
  of(name: string): KeyState {
    let state = this.states.get(name)
    if (state === undefined) {
      state = decodeWithParts(name, this.bytes)
      this.states.set(name, state)
      this.seen.set(name, state)
    }
    return state
  }

  /** Reads a state, if the key holds one that can be read. */
  look(name: string): void {
    try {
      this.of(name)
    } catch {}
  }

  /**
   * @param ttlMs how long it must be kept; 0: it is deleted
   * @throws MissingKeys if the transaction has not read a part that must be written
   */
  put(name: string, state: KeyState, ttlMs: number, now: number): void {
    this.states.set(name, state)
    this.seen.set(name, state)
    const parts = new Parts(name, this.bytes)
    if (ttlMs === 0) {
      for (const key of [name, ...parts.found()]) this.change({ key, state: undefined, ttlMs })
      return
    }
    const { entries, changes } = encodePartedEntries(state, parts, now, ttlMs)
    for (const each of changes) this.change(each)
    this.change({ key: name, state: encodeState(state, entries), ttlMs })
  }

  /** Forgets what a refusal has made of a state that is not kept: the next decision may have another limit. */
  restore(name: string): void {
    this.states.delete(name)
  }

  changes(): StateChange[] {
    return [...this.changed.values()]
  }

  private change(change: StateChange): void {
    this.bytes.set(change.key, change.state)
    this.changed.set(change.key, change)
  }
}

/** @throws RangeError if the key holds no state */
export function decodeWithParts(name: string, bytes: States): KeyState {
  return decodeState(bytes.get(name), (state, view) =>
    decodePartedEntries(state, view, new Parts(name, bytes)),
  )
}
