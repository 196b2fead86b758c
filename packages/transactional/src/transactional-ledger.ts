import type { Charge, ChargeIncrease, Keyspace, Ledger, StoreResult } from '@sluice/core'
import { type KeptKeyspaces, KeyNames, type LedgerKeyspaces } from '@sluice/core/internal-stores'
import {
  applyChange,
  type Change,
  type ChangedStates,
  commitOne,
  decideAll,
  type GrantResult,
  KeyState,
  keepMsOf,
  keysOf,
  type Outcome,
} from '@sluice/core/store'
import type { StateTransactions } from './state-transactions.ts'
import type { TouchedState, TransactionStates } from './transaction-states.ts'

/** Decides on the states of a backend that has transactions. */
export class TransactionalLedger implements Ledger<'async'> {
  readonly #transactions: StateTransactions
  readonly #keyspaces: readonly Keyspace[]
  readonly #names: KeyNames
  readonly #deadlineMs: number | undefined
  readonly #kept: LedgerKeyspaces | undefined

  constructor(
    transactions: StateTransactions,
    keyspaces: readonly Keyspace[],
    prefix: string,
    deadlineMs: number | undefined,
    kept: KeptKeyspaces | undefined,
  ) {
    this.#transactions = transactions
    this.#keyspaces = keyspaces
    this.#deadlineMs = deadlineMs
    this.#kept = kept?.of(keyspaces, prefix)
    this.#names = new KeyNames(keyspaces, prefix, this.#kept)
  }

  async decide(
    requests: readonly (readonly Charge[])[],
    isPeek = false,
  ): Promise<(StoreResult | Error)[]> {
    const touched = requests.map((charges) => charges.map(({ key }, i) => this.#touched(i, key)))
    const decide = (states: TransactionStates, now: number) =>
      requests.map((charges, i) =>
        orError(() => decideOn(states, charges, touched[i] as TouchedState[], now, isPeek)),
      )
    const needsClock = (decided: (StoreResult | Error)[]) => !decided.every(isAdmitted)
    const results = await this.#transact(touched.flat(), decide, needsClock)
    if (!isPeek) this.#kept?.keep()
    return results
  }

  async change(
    change: Change,
    onIncrease?: (increase: ChargeIncrease) => void,
  ): Promise<GrantResult | undefined> {
    const changesOwn = 'key' in change
    const touched = keysOf(change, this.#keyspaces).map(({ policy, key }) => {
      return { ...this.#touched(policy, key), changesOwn }
    })
    if (touched.length === 0) return undefined
    const { result, increases } = await this.#transact(touched, (states, now) => {
      const increases: ChargeIncrease[] = []
      const changed: ChangedStates = {
        load: (policy, key) => states.of(this.#touched(policy, key)),
        keep: (policy, key, state, keepMs) => states.put(this.#touched(policy, key), state, keepMs),
        own: (policy, key) => states.own(this.#touched(policy, key)),
        keepOwn: (policy, key, terms, keepMs) => {
          const { name, own } = this.#touched(policy, key)
          states.putOwn(own as string, terms, keepMs)
          if (terms !== undefined) states.mark(name)
        },
      }
      return {
        result: applyChange(change, changed, this.#keyspaces, now, onIncrease && increases),
        increases,
      }
    })
    if (onIncrease !== undefined) for (const increase of increases) onIncrease(increase)
    if (changesOwn) await this.#changeOthers(change)
    this.#kept?.keep()
    return result
  }

  /** Ends a client's counts of other versions of the application, or lets them see its own record. */
  async #changeOthers(change: Extract<Change, { key: string }>): Promise<void> {
    const others = (await this.#kept?.others(change)) ?? []
    if (others.length === 0) return
    const touched = others.map((name) => ({ name }))
    await this.#transact(touched, (states) => {
      for (const each of touched) {
        if ('policy' in change) states.mark(each.name)
        else states.put(each, new KeyState(), 0)
      }
    })
  }

  #transact<T>(
    touched: readonly TouchedState[],
    work: (states: TransactionStates, now: number) => T,
    needsClock?: (value: T) => boolean,
  ): Promise<T> {
    const { keptUntil = 0 } = this.#kept ?? {}
    return this.#transactions.transact(touched, work, {
      keptUntil,
      needsClock,
      withinMs: this.#deadlineMs,
    })
  }

  /** The state of a client in a policy. */
  #touched(policy: number, key: string): TouchedState {
    return { name: this.#names.state(policy, key), own: this.#names.own(policy, key) }
  }
}

/** Decides a request. @param touched its states, in the order of the charges */
function decideOn(
  states: TransactionStates,
  charges: readonly Charge[],
  touched: readonly TouchedState[],
  now: number,
  isPeek: boolean,
): StoreResult {
  const loaded = touched.map((each) => states.of(each))
  const admitted = decideAll(loaded, charges, now, isPeek)
  const outcomes = loaded.map(outcomeOf)
  for (const [i, each] of touched.entries()) {
    const [state, charge] = [loaded[i] as KeyState, charges[i] as Charge]
    // A state that is full by now is kept too: it counts again if the clock steps back once more.
    if (!isPeek && commitOne(state, charge, now, admitted ? charge.cost : 0))
      states.put(each, state, Math.max(1, keepMsOf(state, charge.limit, now)))
    else states.restore(each.name)
  }
  return { admitted, at: now, source: 'store', outcomes }
}

/** The outcome alone: a further request of the transaction may use the state. */
function outcomeOf({ a, b, c, log, held, terms, rebased, ...outcome }: KeyState): Outcome {
  return outcome
}

function isAdmitted(result: StoreResult | Error): boolean {
  return !(result instanceof Error) && result.admitted
}

/** A state that can't be read fails only its own request. */
function orError<T>(act: () => T): T | Error {
  try {
    return act()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
