import {
  type CompiledLimit,
  KeyState,
  type Outcome,
  type OwnTerms,
} from '../../algorithms/algorithm.ts'
import { conflict } from '../../errors/conflict.ts'
import { applyChange, type ChangedStates } from '../rules/change.ts'
import { commitOne, decideAll, decideOne, isOnRefusal } from '../rules/decide-all.ts'
import { endOf } from '../rules/own-terms.ts'
import type {
  Change,
  Charge,
  ChargeIncrease,
  GrantResult,
  Keyspace,
  Ledger,
  OnIncrease,
  Requests,
  StoreResult,
} from '../store.ts'
import { EXHAUSTED, OVERFLOW, type Table } from './table.ts'
import type { Tables } from './tables.ts'

/** Decides on the tables of a memory store, one for each policy. */
export class MemoryLedger implements Ledger<'sync'> {
  readonly #store: Tables
  readonly #tables: readonly Table[]
  /** The state of each table's key during the step, reused by every call. */
  readonly #states: readonly KeyState[]
  /** The row of each table's key, or -1, reused by every call. */
  readonly #rows: number[]
  readonly #result: StoreResult
  /** The result of an only request. */
  readonly #results: readonly [StoreResult]
  /** The last limit of each table. `scales` has how much usage one of its units is. */
  readonly #scaledFor: (CompiledLimit | undefined)[]
  readonly #scales: number[]
  readonly #unused = new KeyState()
  readonly #keyspaces: readonly Keyspace[]

  constructor(store: Tables, tables: readonly Table[], keyspaces: readonly Keyspace[]) {
    this.#store = store
    this.#tables = tables
    this.#keyspaces = keyspaces
    this.#states = tables.map(() => new KeyState())
    this.#rows = tables.map(() => -1)
    this.#scaledFor = tables.map(() => undefined)
    this.#scales = tables.map(() => 0)
    this.#result = { admitted: false, at: 0, source: 'store', outcomes: this.#states }
    this.#results = [this.#result]
  }

  /** An only charge, as most limiters have it, is decided here: by the path for several, a decision takes 11 % longer. */
  decide(requests: Requests, isPeek = false): readonly StoreResult[] {
    if (requests.length > 1 || this.#tables.length > 1 || isPeek)
      return this.#decideOthers(requests, isPeek)
    const charges = requests[0] as readonly Charge[]
    const now = this.#store.clock()
    const charge = charges[0] as Charge
    const table = this.#tables[0] as Table
    const state = this.#states[0] as KeyState
    let row = table.find(charge.key)
    if (row < 0) {
      this.#makeRoom(charges, now)
      row = this.#rows[0] as number
    }
    if (row < 0) empty(state)
    else table.load(row, state)
    const { own } = table
    state.terms = own.terms.size === 0 ? undefined : own.get(charge.key)
    state.own = undefined
    decideOne(state, charge, now, charge.cost)
    const { admitted } = state
    this.#result.admitted = admitted || !charge.limit.refuses
    this.#result.at = now
    if (commitOne(state, charge, now, admitted ? charge.cost : 0)) {
      this.#write(0, row, charge, now)
    } else if (!admitted && row >= 0) {
      table.setUsage(row, EXHAUSTED)
    }
    return this.#results
  }

  change(change: Change, onIncrease?: OnIncrease): GrantResult | undefined {
    const store = this.#store
    const tables = this.#tables
    const now = store.clock()
    const increases: ChargeIncrease[] | undefined = onIncrease && []
    const states: ChangedStates = {
      load: (policy, key) => {
        const row = (tables[policy] as Table).find(key)
        const isFull = row < 0 && mayAdd(change) && store.size >= store.maxKeys
        this.#rows[policy] = isFull && !store.makeRoom(now) ? OVERFLOW : row
        return this.#load(policy, key)
      },
      keep: (policy, key, _state, keepMs, limit) => {
        if (limit === undefined || keepMs === 0) (tables[policy] as Table).delete(key)
        else this.#write(policy, this.#rows[policy] as number, { key, limit }, now)
      },
      own: (policy, key) => tables[policy]?.own.get(key),
      keepOwn: (policy, key, terms) => this.#keepOwn(tables[policy] as Table, key, terms, now),
    }
    const result = applyChange(change, states, this.#keyspaces, now, increases)
    // The callback may call this ledger, which reuses its states.
    if (onIncrease !== undefined)
      for (const increase of increases as ChargeIncrease[]) onIncrease(increase)
    return result
  }

  #decideOthers(requests: Requests, isPeek: boolean): readonly StoreResult[] {
    if (requests.length > 1)
      return requests.map((charges) => copyOf(this.decide([charges], isPeek)[0] as StoreResult))
    const charges = requests[0] as readonly Charge[]
    const now = this.#store.clock()
    if (this.#find(charges) > 0 && !isPeek) this.#makeRoom(charges, now)
    for (let i = 0; i < charges.length; i += 1) this.#load(i, (charges[i] as Charge).key)
    const admitted = decideAll(this.#states, charges, now, isPeek)
    this.#result.admitted = admitted
    this.#result.at = now
    if (!isPeek) this.#commit(charges, now, admitted)
    return this.#results
  }

  #commit(charges: readonly Charge[], now: number, admitted: boolean): void {
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const state = this.#states[i] as KeyState
      const row = this.#rows[i] as number
      if (commitOne(state, charge, now, admitted ? charge.cost : 0)) {
        if (this.#hasRow(i, charge, now)) this.#write(i, row, charge, now)
      } else if (!state.admitted && row >= 0) {
        this.#tables[i]?.setUsage(row, EXHAUSTED)
      }
    }
  }

  /** Keeps a client's own record, whether it has a row or not. */
  #keepOwn(table: Table, key: string, terms: OwnTerms | undefined, now: number): void {
    if (!table.own.set(key, terms, now)) {
      throw conflict(
        'maxKeys',
        'room for one more client with a limit of its own or a block',
        this.#store.maxKeys,
        'Raise maxKeys of the memory store, or end overrides that nobody needs.',
      )
    }
    this.#store.sweeper.schedule(table.own.dueAt, now)
  }

  /** Finds the rows of the keys; returns how many have none, and need one if the request is admitted. */
  #find(charges: readonly Charge[]): number {
    let missing = 0
    for (let i = 0; i < charges.length; i += 1) {
      const { key, limit } = charges[i] as Charge
      const row = (this.#tables[i] as Table).find(key)
      this.#rows[i] = row
      if (row < 0 && limit.algorithm.chargedOn !== 'refusal') missing += 1
    }
    return missing
  }

  /**
   * Makes room for the keys that have no row. Those that find none share the overflow row of
   * their table, because every other key is being refused.
   */
  #makeRoom(charges: readonly Charge[], now: number): void {
    const store = this.#store
    let room = store.maxKeys - store.size
    // The freed key may be one of these charges, so find all of them again.
    while (this.#find(charges) > room && store.makeRoom(now)) room = store.maxKeys - store.size
    for (let i = 0; i < charges.length; i += 1) {
      const { limit } = charges[i] as Charge
      if (this.#rows[i] !== -1 || limit.algorithm.chargedOn === 'refusal') continue
      if (--room < 0) this.#rows[i] = OVERFLOW
    }
  }

  /**
   * Whether a charge has a row, or gets one. With every other key refused there is no room to count refusals, and keys
   * must not share what refuses them all.
   */
  #hasRow(i: number, { limit }: Charge, now: number): boolean {
    if ((this.#rows[i] as number) >= 0 || !isOnRefusal(limit)) return true
    const store = this.#store
    return store.size < store.maxKeys || store.makeRoom(now)
  }

  /** Loads and returns the state of a charge. */
  #load(i: number, key: string): KeyState {
    const row = this.#rows[i] as number
    const state = this.#states[i] as KeyState
    if (row < 0) empty(state)
    else this.#tables[i]?.load(row, state)
    const { own } = this.#tables[i] as Table
    state.terms = own.terms.size === 0 ? undefined : own.get(key)
    state.own = undefined
    return state
  }

  #write(i: number, row: number, { key, limit }: Pick<Charge, 'key' | 'limit'>, now: number): void {
    const table = this.#tables[i] as Table
    const state = this.#states[i] as KeyState
    const place = row < 0 ? table.add(key) : row
    const applied = state.own ?? limit
    const keepMs = applied.keepMs === undefined ? state.resetMs : applied.keepMs(state, now)
    // A slot that is in use must not be forgotten: one too many would be admitted.
    const isExhausted = state.remaining < 1 || limit.algorithm.holdsSlots === true
    // A division costs more than all the rest of it.
    if (!isExhausted && this.#scaledFor[i] !== applied) this.#scale(i, applied, now)
    // The share in use of what the quota holds when full: 0 … 254.
    const usage = 254 - ((state.remaining * (this.#scales[i] as number)) | 0)
    if (state.terms !== undefined && endOf(state.terms) <= now) table.own.set(key, undefined, now)
    table.save(place, state, now, keepMs, isExhausted ? EXHAUSTED : usage)
    const { dueAt } = table
    if (dueAt < this.#store.sweeper.nextAt) this.#store.sweeper.schedule(dueAt, now)
  }

  #scale(i: number, limit: CompiledLimit, now: number): void {
    const unused = this.#unused
    empty(unused)
    limit.decide(unused, now, 0)
    this.#scaledFor[i] = limit
    this.#scales[i] = 254 / unused.remaining
  }
}

/** Whether a change may need a row for a key that has none. A reservation may have been given back meanwhile. */
function mayAdd(change: Change): boolean {
  if (change.kind === 'settle')
    return change.charges.some(
      ({ cost, claim, limit }) => cost > 0 || (limit.algorithm.reserves && claim !== undefined),
    )
  return change.kind === 'renew'
}

/** A result that the next request does not overwrite. */
export function copyOf({ outcomes, ...result }: StoreResult): StoreResult {
  return { ...result, outcomes: outcomes.map((outcome): Outcome => ({ ...outcome })) }
}

/** The state of a key never seen. */
function empty(state: KeyState): void {
  state.a = state.b = state.c = 0
  state.log = state.held = undefined
}
