import { GrowingTransactions, MissingKeys, type States } from '../growing-transactions.ts'
import type { Transaction, TransactionalBackend } from '../transactional-backend.ts'
import { partedOf } from './parted-entries.ts'
import { PartedHeld } from './parted-held.ts'
import { PartedLog } from './parted-log.ts'
import { partKey } from './parts.ts'
import { TransactionStates } from './transaction-states.ts'

/** The most states with parts that a process knows to have them. */
const MOST_KNOWN = 10_000

/** A state that a transaction is about. */
export interface TouchedState {
  readonly name: string
  /** The key of what its client has of its own; undefined: it has nothing there. */
  readonly own?: string | undefined
  /** The slots that it is about, and whose. */
  readonly slots?: readonly number[]
  readonly owner?: number | undefined
}

/** Transactions on states, of which those with many entries are in parts: see `PartedHeld` and `PartedLog`. */
export class PartedTransactions {
  private readonly transactions: GrowingTransactions
  /** The states with parts that were used last, with the parts that any call needs. */
  private readonly known = new Map<string, readonly number[]>()

  constructor(backend: TransactionalBackend) {
    this.transactions = new GrowingTransactions(backend)
  }

  /** @param needsClock see `Transaction.needsClock` */
  transact<T>(
    touched: readonly TouchedState[],
    work: (states: TransactionStates, now: number) => T,
    needsClock: ((value: T) => boolean) | undefined,
    withinMs: number | undefined,
  ): Promise<T> {
    const names = [...new Set(touched.map(({ name }) => name))]
    const owns = touched.flatMap(({ own }) => own ?? [])
    const decide = (bytes: States, now: number): Transaction<T> => {
      const states = new TransactionStates(bytes)
      try {
        const value = work(states, now)
        return { value, changes: states.changes(), needsClock: needsClock?.(value) ?? false }
      } catch (error) {
        if (!(error instanceof MissingKeys)) throw error
        // All at once: each attempt is a transaction.
        for (const name of names) states.look(name)
        this.learn(states)
        throw new MissingKeys([...error.keys, ...this.partsOfAll(touched)])
      } finally {
        this.learn(states)
      }
    }
    return this.transactions.transact(
      [...names, ...owns],
      this.partsOfAll(touched),
      decide,
      withinMs,
    )
  }

  private partsOfAll(touched: readonly TouchedState[]): string[] {
    return this.known.size === 0 ? [] : touched.flatMap((each) => this.partsOf(each))
  }

  /** The keys of the parts that a call about a state probably needs. */
  private partsOf({ name, slots = [], owner }: TouchedState): string[] {
    const known = this.known.get(name)
    if (known === undefined) return []
    const ids = known.concat(slots.flatMap((slot) => PartedHeld.partsOf(slot, owner)))
    return ids.map((id) => partKey(name, id))
  }

  private learn({ seen }: TransactionStates): void {
    for (const [name, state] of seen) {
      const parted = partedOf(state)
      if (parted === undefined && !this.known.has(name)) continue
      // The newest is the last.
      this.known.delete(name)
      if (parted === undefined || parted.length === 0) continue
      if (this.known.size >= MOST_KNOWN) this.known.delete(this.known.keys().next().value as string)
      this.known.set(name, parted instanceof PartedLog ? parted.partsOfNext : [])
    }
  }
}
