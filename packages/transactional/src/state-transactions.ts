import { GrowingTransactions, MissingKeys, type States } from './growing-transactions.ts'
import { type TouchedState, TransactionStates } from './transaction-states.ts'
import type { Transaction, TransactionalBackend } from './transactional-backend.ts'

/** The most states that a process knows to be unmarked. */
const MOST_KNOWN = 10_000
/**
 * The time between reads of a record that should not be there, ms. So a client keeps its own limit and top-ups though
 * its state was not marked: the store may have lost the list of keyspaces.
 */
const LOOK_AGAIN_MS = 600_000

/** How a transaction is made. */
export interface TransactionOptions<T> {
  /** See `LedgerKeyspaces.keptUntil`. */
  readonly keptUntil: number
  /** See `Transaction.needsClock`. */
  readonly needsClock?: ((value: T) => boolean) | undefined
  readonly withinMs: number | undefined
}

/** Transactions on states. What a client has of its own is read only where its state is marked, or where there is none. */
export class StateTransactions {
  readonly #transactions: GrowingTransactions
  /** Until when the states that were used last are believed not to be marked, ms on the store's clock. */
  readonly #unmarked = new Map<string, number>()
  /** The store's time minus `performance.now()`, ms. */
  #ahead = 0

  constructor(backend: TransactionalBackend) {
    this.#transactions = new GrowingTransactions(backend)
  }

  transact<T>(
    touched: readonly TouchedState[],
    work: (states: TransactionStates, now: number) => T,
    { keptUntil, needsClock, withinMs }: TransactionOptions<T>,
  ): Promise<T> {
    const names = [...new Set(touched.map(({ name }) => name))]
    const decide = (bytes: States, now: number): Transaction<T> => {
      const states = new TransactionStates(bytes, now, keptUntil)
      this.#ahead = now - performance.now()
      try {
        this.#needOwns(states, bytes, touched)
        const value = work(states, now)
        return { value, changes: states.changes(), needsClock: needsClock?.(value) ?? false }
      } finally {
        this.#learnMarks(states, bytes, touched, now)
      }
    }
    return this.#transactions.transact(names, this.#ownsOf(touched), decide, withinMs)
  }

  /** @throws MissingKeys if the transaction has not read a record that there may be */
  #needOwns(states: TransactionStates, bytes: States, touched: readonly TouchedState[]): void {
    const missing = touched.flatMap((each) => {
      const { own } = each
      const isMissing = own !== undefined && !bytes.has(own) && states.unmarkedUntil(each) === 0
      return isMissing ? own : []
    })
    if (missing.length > 0) throw new MissingKeys(missing)
  }

  /** The keys of the records that a transaction probably needs. */
  #ownsOf(touched: readonly TouchedState[]): string[] {
    const now = performance.now() + this.#ahead
    return touched.flatMap(({ name, own, changesOwn }) => {
      if (own === undefined) return []
      return changesOwn || (this.#unmarked.get(name) ?? 0) <= now ? own : []
    })
  }

  #learnMarks(
    states: TransactionStates,
    bytes: States,
    touched: readonly TouchedState[],
    now: number,
  ): void {
    const unmarked = this.#unmarked
    for (const each of touched) {
      const { name, own } = each
      if (own === undefined) continue
      const until = states.unmarkedUntil(each)
      if (until === 0) unmarked.delete(name)
      else if (bytes.has(own)) unmarked.set(name, Math.min(until, now + LOOK_AGAIN_MS))
      if (unmarked.size > MOST_KNOWN) unmarked.delete(unmarked.keys().next().value as string)
    }
  }
}
