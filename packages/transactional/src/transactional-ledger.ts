import type { Charge, ChargeIncrease, Keyspace, Ledger, StoreResult } from '@sluice/core'
import { type KeptKeyspaces, type LedgerKeyspaces, subject } from '@sluice/core/internal-stores'
import {
  applyChange,
  type Change,
  type ChangedStates,
  commitOne,
  decideAll,
  type GrantResult,
  isOnRefusal,
  KeyState,
  keepMsOf,
  keysOf,
  type Outcome,
  ownKeyspace,
} from '@sluice/core/store'
import type { StateTransactions, TouchedState } from './state-transactions.ts'
import type { TransactionStates } from './transaction-states.ts'

/** Decides on the states of a backend that has transactions. */
export class TransactionalLedger implements Ledger<'async'> {
  readonly #transactions: StateTransactions
  readonly #keyspaces: readonly Keyspace[]
  /** The text around a client in the keys of its states, and of its own limit, top-ups and block, in each policy. */
  readonly #frames: readonly KeyFrame[]
  readonly #ownFrames: readonly (KeyFrame | undefined)[]
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
    this.#frames = keyspaces.map((each) => frameOf(each.prefix ?? prefix, each.name))
    this.#ownFrames = keyspaces.map((each) =>
      isOnRefusal(each) ? undefined : frameOf(each.prefix ?? prefix, ownKeyspace(each.name)),
    )
    this.#deadlineMs = deadlineMs
    this.#kept = kept?.of(keyspaces, prefix)
  }

  async decide(
    requests: readonly (readonly Charge[])[],
    isPeek = false,
  ): Promise<(StoreResult | Error)[]> {
    const touched = requests.flatMap((charges) => this.#touched(charges))
    const decide = (states: TransactionStates, now: number) =>
      requests.map((charges) => orError(() => this.#decideOne(states, charges, now, isPeek)))
    const results = await this.#transact(touched, decide, (decided) => !decided.every(isAdmitted))
    if (!isPeek) this.#kept?.keep()
    return results
  }

  async change(
    change: Change,
    onIncrease?: (increase: ChargeIncrease) => void,
  ): Promise<GrantResult | undefined> {
    const changesOwn = 'key' in change
    const touched = keysOf(change, this.#keyspaces).map(({ policy, key }) => {
      return { name: this.#name(key, policy), own: this.#ownName(key, policy), changesOwn }
    })
    if (touched.length === 0) return undefined
    const { result, increases } = await this.#transact(touched, (states, now) => {
      const increases: ChargeIncrease[] = []
      const changed: ChangedStates = {
        load: (policy, key) => states.of(this.#name(key, policy), this.#ownName(key, policy)),
        keep: (policy, key, state, keepMs) =>
          states.put(this.#name(key, policy), state, keepMs, now, this.#ownName(key, policy)),
        own: (policy, key) => states.own(this.#ownName(key, policy)),
        keepOwn: (policy, key, terms, keepMs) => {
          states.putOwn(this.#ownName(key, policy) as string, terms, keepMs)
          if (terms !== undefined) states.mark(this.#name(key, policy))
        },
      }
      return {
        result: applyChange(change, changed, this.#keyspaces, now, onIncrease && increases),
        increases,
      }
    })
    if (onIncrease !== undefined) for (const increase of increases) onIncrease(increase)
    if ('key' in change) await this.#changeOthers(change)
    this.#kept?.keep()
    return result
  }

  /** Ends a client's counts of other versions of the application, or lets them see its own record. */
  async #changeOthers(change: Extract<Change, { key: string }>): Promise<void> {
    const changed =
      'policy' in change ? this.#keyspaces.slice(change.policy, change.policy + 1) : this.#keyspaces
    const others = (await this.#kept?.others(changed)) ?? []
    const touched = others.map(({ prefix, name }) => {
      return { name: nameIn(frameOf(prefix, name), change.key) }
    })
    if (touched.length === 0) return
    await this.#transact(touched, (states, now) => {
      for (const { name } of touched) {
        if ('policy' in change) states.mark(name)
        else states.put(name, new KeyState(), 0, now)
      }
    })
  }

  #decideOne(
    states: TransactionStates,
    charges: readonly Charge[],
    now: number,
    isPeek: boolean,
  ): StoreResult {
    const names = this.#names(charges)
    const loaded = names.map((name, i) => {
      return states.of(name, this.#ownName((charges[i] as Charge).key, i))
    })
    const admitted = decideAll(loaded, charges, now, isPeek)
    const outcomes = loaded.map(outcomeOf)
    if (isPeek) for (const name of names) states.restore(name)
    else this.#commit(states, charges, names, now, admitted)
    return { admitted, at: now, source: 'store', outcomes }
  }

  #commit(
    states: TransactionStates,
    charges: readonly Charge[],
    names: readonly string[],
    now: number,
    admitted: boolean,
  ): void {
    for (const [i, name] of names.entries()) {
      const state = states.loaded(name)
      const charge = charges[i] as Charge
      // A state that is full by now is kept too: it counts again if the clock steps back once more.
      if (commitOne(state, charge, now, admitted ? charge.cost : 0)) {
        const keepMs = Math.max(1, keepMsOf(state, charge.limit, now))
        states.put(name, state, keepMs, now, this.#ownName(charge.key, i))
      } else states.restore(name)
    }
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

  /** The states of a request. */
  #touched(charges: readonly Charge[]): TouchedState[] {
    return charges.map(({ key }, i) => {
      return { name: this.#name(key, i), own: this.#ownName(key, i) }
    })
  }

  #names(charges: readonly Charge[]): string[] {
    return charges.map(({ key }, i) => this.#name(key, i))
  }

  #name(key: string, place: number): string {
    if (key.startsWith('{')) this.#kept?.shard()
    return nameIn(this.#frames[place] as KeyFrame, key)
  }

  /** Undefined: no client has anything of its own there. */
  #ownName(key: string, place: number): string | undefined {
    const frame = this.#ownFrames[place]
    return frame && nameIn(frame, key)
  }
}

/** The text before and behind a client in a key. */
type KeyFrame = readonly [before: string, behind: string]

function frameOf(prefix: string, keyspace: string): KeyFrame {
  return [`${prefix}:{`, `}:${keyspace}`]
}

function nameIn([before, behind]: KeyFrame, key: string): string {
  return before + subject(key) + behind
}

function outcomeOf({
  admitted,
  remaining,
  excess,
  resetMs,
  retryAfterMs,
  effectiveMs,
  delayMs,
  counted,
  own,
  ownMs,
}: KeyState): Outcome {
  return {
    admitted,
    remaining,
    excess,
    resetMs,
    retryAfterMs,
    effectiveMs,
    delayMs,
    counted,
    own,
    ownMs,
  }
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
