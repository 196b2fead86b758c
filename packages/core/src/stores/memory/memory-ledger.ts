import {
  type CompiledLimit,
  KeyState,
  type Override,
  type OwnTerms,
} from '../../algorithms/algorithm.ts'
import { conflict } from '../../errors/conflict.ts'
import { commitOne, decideAll, decideOne, renewOne, settleOne } from '../rules/decide-all.ts'
import { unended, withGrant, withOverride } from '../rules/own-terms.ts'
import { renewalsOf } from '../rules/slots.ts'
import type {
  Charge,
  DecisionSource,
  GivenGrant,
  GrantResult,
  Ledger,
  Raise,
  StoreResult,
} from '../store.ts'
import { OwnTable } from './own-table.ts'
import { EXHAUSTED, OVERFLOW, type Table } from './table.ts'
import type { Tables } from './tables.ts'

/** Decides on the tables of a memory store, one for each policy, and one for the ban. */
export class MemoryLedger implements Ledger<'sync'> {
  private readonly store: Tables
  private readonly tables: readonly Table[]
  /** The state of each table's key during the step, reused by every call. */
  private readonly states: readonly KeyState[]
  /** The row of each table's key, or -1, reused by every call. */
  private readonly rows: number[]
  private readonly result: StoreResult
  /** The last limit of each table. `scales` has how much usage one of its units is. */
  private readonly scaledFor: (CompiledLimit | undefined)[]
  private readonly scales: number[]
  private readonly unused = new KeyState()
  private readonly ban: { limit: CompiledLimit; state: KeyState } | undefined

  /** @param ban the limit of a ban, whose table is the last one */
  constructor(store: Tables, tables: readonly Table[], ban?: CompiledLimit) {
    this.store = store
    this.tables = tables
    this.states = tables.map(() => new KeyState())
    this.rows = tables.map(() => -1)
    this.scaledFor = tables.map(() => undefined)
    this.scales = tables.map(() => 0)
    this.ban = ban && { limit: ban, state: this.states.at(-1) as KeyState }
    const outcomes = ban === undefined ? this.states : this.states.slice(0, -1)
    this.result = { admitted: false, at: 0, source: 'store', outcomes, ban: this.ban?.state }
  }

  /** An only charge, as most limiters have it, is decided here: by the path for several, a decision takes 11 % longer. */
  consume(charges: readonly Charge[]): StoreResult {
    if (this.tables.length > 1) return this.consumeSeveral(charges)
    const now = this.store.clock()
    const charge = charges[0] as Charge
    const { result } = this
    const table = this.tables[0] as Table
    const state = this.states[0] as KeyState
    let row = table.find(charge.key)
    if (row < 0) {
      this.makeRoom(charges, now)
      row = this.rows[0] as number
    }
    if (row < 0) empty(state)
    else table.load(row, state)
    state.terms = table.own === undefined ? undefined : table.own.get(charge.key)
    state.own = undefined
    decideOne(state, charge, now, charge.cost)
    const { admitted } = state
    result.admitted = admitted
    result.at = now
    if (commitOne(state, charge, now, admitted ? charge.cost : 0)) {
      this.write(0, row, charge, now)
    } else if (!admitted && row >= 0) {
      table.setUsage(row, EXHAUSTED)
    }
    return result
  }

  private consumeSeveral(charges: readonly Charge[]): StoreResult {
    const now = this.store.clock()
    if (this.find(charges) > 0) this.makeRoom(charges, now)
    const result = this.decide(charges, now, false)
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const state = this.states[i] as KeyState
      if (commitOne(state, charge, now, result.admitted ? charge.cost : 0)) {
        this.write(i, this.rows[i] as number, charge, now)
      } else if (!state.admitted && (this.rows[i] as number) >= 0) {
        this.tables[i]?.setUsage(this.rows[i] as number, EXHAUSTED)
      }
    }
    if (this.ban?.state.counted || this.ban?.state.rebased) this.writeBan(charges, now)
    return result
  }

  peek(charges: readonly Charge[]): StoreResult {
    this.find(charges)
    return this.decide(charges, this.store.clock(), true)
  }

  settle(
    charges: readonly Charge[],
    chargedAt?: number,
    _source?: DecisionSource,
    raised?: (raise: Raise) => void,
  ): void {
    const now = this.store.clock()
    const raises: Raise[] | undefined = raised && []
    const missing = this.find(charges)
    if (missing > 0 && charges.some(mayCharge)) this.makeRoom(charges, now)
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const state = this.load(i, charge.key)
      const settled = settleOne(state, charge, now, chargedAt ?? now, raises, i)
      if (settled === 'delete') {
        const table = this.tables[i] as Table
        table.own?.set(charge.key, undefined, now)
        table.delete(charge.key)
      } else if (settled === 'keep') this.write(i, this.rows[i] as number, charge, now)
    }
    // The callback may call this ledger, which reuses its states.
    if (raised !== undefined) for (const raise of raises as Raise[]) raised(raise)
  }

  renew(requests: readonly (readonly Charge[])[]): void {
    const { store, rows } = this
    const now = store.clock()
    for (const renewal of renewalsOf(requests)) {
      const { place, key, limit } = renewal
      rows[place] = (this.tables[place] as Table).find(key)
      const needsOne = rows[place] === -1 && store.size >= store.maxKeys
      if (needsOne && !store.makeRoom(now)) rows[place] = OVERFLOW
      if (renewOne(this.load(place, key), renewal, now)) {
        this.write(place, rows[place] as number, { key, limit, cost: 0 }, now)
      }
    }
  }

  block(key: string, durationMs: number): void {
    const now = this.store.clock()
    const charges = this.tables.map(() => ({ key }))
    if (this.find(charges) > 0) this.makeRoom(charges, now)
    for (const [i, table] of this.tables.entries()) {
      if (this.rows[i] === OVERFLOW) this.store.displace(table)
      dropEnded(table, key, now)
      const row = table.find(key)
      table.block(row < 0 ? table.add(key) : row, now + durationMs)
      this.store.sweeper.expect(table.dueAt, now)
    }
  }

  reset(key: string): void {
    const now = this.store.clock()
    for (const table of this.tables) {
      dropEnded(table, key, now)
      table.delete(key)
    }
  }

  override(
    policy: number,
    key: string,
    _limit: CompiledLimit,
    override: Override | undefined,
  ): void {
    const now = this.store.clock()
    const own = this.ownOf(policy)
    this.keep(own, key, withOverride(own.get(key), override, now), now)
  }

  grant(policy: number, key: string, limit: CompiledLimit, given: GivenGrant): GrantResult {
    const now = this.store.clock()
    const own = this.ownOf(policy)
    this.rows[policy] = (this.tables[policy] as Table).find(key)
    const terms = withGrant(this.load(policy, key), limit, given, now)
    if (typeof terms === 'string') return terms
    this.keep(own, key, terms, now)
    return 'granted'
  }

  private ownOf(policy: number): OwnTable {
    const table = this.tables[policy] as Table
    table.own ??= new OwnTable(this.store.ownCount)
    return table.own
  }

  private keep(own: OwnTable, key: string, terms: OwnTerms | undefined, now: number): void {
    if (own.set(key, terms, now)) return
    throw conflict(
      'maxKeys',
      'room for one more client with a limit of its own',
      this.store.maxKeys,
      'Raise maxKeys of the memory store, or end overrides that nobody needs.',
    )
  }

  /** Finds the rows of the keys, that of the ban by the first; returns how many have none, without the ban's. */
  private find(charges: readonly Pick<Charge, 'key'>[]): number {
    let missing = 0
    for (let i = 0; i < this.tables.length; i += 1) {
      const row = (this.tables[i] as Table).find(((charges[i] ?? charges[0]) as Charge).key)
      this.rows[i] = row
      if (row < 0 && i < charges.length) missing += 1
    }
    return missing
  }

  /**
   * Makes room for the keys that have no row. Those that find none share the overflow row of
   * their table, because every other key is being refused.
   */
  private makeRoom(charges: readonly Pick<Charge, 'key'>[], now: number): void {
    const { store, rows } = this
    let room = store.maxKeys - store.size
    // The freed key may be one of these charges, so find all of them again.
    while (this.find(charges) > room && store.makeRoom(now)) room = store.maxKeys - store.size
    for (let i = 0; i < charges.length; i += 1) {
      if (rows[i] === -1 && --room < 0) rows[i] = OVERFLOW
    }
  }

  private decide(charges: readonly Charge[], now: number, isPeek: boolean): StoreResult {
    for (let i = 0; i < this.tables.length; i += 1) {
      this.load(i, ((charges[i] ?? charges[0]) as Charge).key)
    }
    this.result.admitted = decideAll(this.states, charges, now, this.ban, isPeek)
    this.result.at = now
    return this.result
  }

  /** Loads and returns the state of a charge. */
  private load(i: number, key: string): KeyState {
    const row = this.rows[i] as number
    const state = this.states[i] as KeyState
    if (row < 0) empty(state)
    else this.tables[i]?.load(row, state)
    const { own } = this.tables[i] as Table
    state.terms = own === undefined ? undefined : own.get(key)
    state.own = undefined
    return state
  }

  private writeBan([charge]: readonly Charge[], now: number): void {
    const { store } = this
    const place = this.tables.length - 1
    const row = this.rows[place] as number
    // With every other key refused there is no room to count refusals: keys must not share a ban.
    if (row < 0 && store.size >= store.maxKeys && !store.makeRoom(now)) return
    this.write(place, row, { ...charge, limit: this.ban?.limit } as Charge, now)
  }

  private write(i: number, row: number, { key, limit }: Charge, now: number): void {
    const { store } = this
    const table = this.tables[i] as Table
    const state = this.states[i] as KeyState
    const place = row < 0 ? table.add(key) : row
    const applied = state.own ?? limit
    const keepMs = applied.keepMs === undefined ? state.resetMs : applied.keepMs(state, now)
    // A slot that is in use must not be forgotten: one too many would be admitted.
    const isExhausted = state.remaining < 1 || limit.algorithm.holdsSlots === true
    // A division costs more than all the rest of it.
    if (!isExhausted && this.scaledFor[i] !== applied) this.scale(i, applied, now)
    // The share in use of what the quota holds when full: 0 … 254.
    const usage = 254 - ((state.remaining * (this.scales[i] as number)) | 0)
    if (state.terms === undefined) table.own?.set(key, undefined, now)
    table.save(place, state, now, keepMs, isExhausted ? EXHAUSTED : usage)
    const { dueAt } = table
    if (dueAt < store.sweeper.nextAt) store.sweeper.expect(dueAt, now)
  }

  private scale(i: number, limit: CompiledLimit, now: number): void {
    const { unused } = this
    empty(unused)
    limit.decide(unused, now, 0)
    this.scaledFor[i] = limit
    this.scales[i] = 254 / unused.remaining
  }
}

/** Whether a correction may charge more: a reservation may have been given back meanwhile. */
function mayCharge({ cost, reserved }: Charge): boolean {
  return cost > 0 || reserved !== undefined
}

/** Forgets what a client had of its own once all of it has ended: every write does. */
function dropEnded({ own }: Table, key: string, now: number): void {
  own?.set(key, unended(own.get(key), now), now)
}

/** The state of a key never seen. */
function empty(state: KeyState): void {
  state.a = state.b = state.c = 0
  state.log = undefined
  state.blockedUntil = 0
}
