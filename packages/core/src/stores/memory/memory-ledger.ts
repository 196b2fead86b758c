import { type CompiledLimit, KeyState } from '../../algorithms/algorithm.ts'
import {
  commitOne,
  decideAll,
  decideOne,
  keepMsOf,
  renewOne,
  settleOne,
} from '../rules/decide-all.ts'
import { renewalsOf } from '../rules/slots.ts'
import type { Charge, Ledger, StoreResult } from '../store.ts'
import { EXHAUSTED, OVERFLOW } from './slots.ts'
import type { Table } from './table.ts'

/** What the ledgers of a memory store share. */
export interface Room {
  /** Integer ms since the epoch. */
  readonly clock: () => number
  /** The most keys that are kept, over all ledgers. */
  readonly maxKeys: number
  /** Keys kept now. */
  readonly size: number
  /** Frees one key or some; false if every key is being refused. */
  makeRoom(now: number): boolean
  /** Frees one key although every key is being refused, for one of `table` that will be blocked. */
  displace(table: Table): void
  /** Takes note that a key of the table is kept until some time. */
  kept(table: Table, now: number): void
}

/** A charge, or a key to be blocked. */
interface Keyed {
  readonly key: string
  readonly limit?: CompiledLimit
}

/** Decides on the tables of a memory store, one for each policy. */
export class MemoryLedger implements Ledger<'sync'> {
  private readonly store: Room
  private readonly tables: readonly Table[]
  /** For each policy, reused by every call: its state during the step. */
  private readonly states: readonly KeyState[]
  /** For each policy, reused by every call: the slot of its key, or -1. */
  private readonly slots: number[]
  private readonly result: StoreResult
  /** For each policy the last limit, and how much usage a unit of it is. */
  private readonly scaledFor: (CompiledLimit | undefined)[]
  private readonly scales: number[]
  private readonly unused = new KeyState()

  constructor(store: Room, tables: readonly Table[]) {
    this.store = store
    this.tables = tables
    this.states = tables.map(() => new KeyState())
    this.slots = tables.map(() => -1)
    this.scaledFor = tables.map(() => undefined)
    this.scales = tables.map(() => 0)
    this.result = { admitted: false, at: 0, source: 'store', outcomes: this.states }
  }

  consume(charges: readonly Charge[]): StoreResult {
    if (charges.length === 1) return this.consumeOne(charges)
    const now = this.store.clock()
    if (this.find(charges) > 0) this.makeRoom(charges, now)
    const result = this.decide(charges, now)
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const state = this.states[i] as KeyState
      if (commitOne(state, charge, now, result.admitted ? charge.cost : 0)) {
        this.write(i, this.slots[i] as number, charge, now)
      } else if (!state.admitted && (this.slots[i] as number) >= 0) {
        this.tables[i]?.slots.setUsage(this.slots[i] as number, EXHAUSTED)
      }
    }
    return result
  }

  /** The same for the only charge, as most limiters have it, at two thirds of the price. */
  private consumeOne(charges: readonly Charge[]): StoreResult {
    const now = this.store.clock()
    const charge = charges[0] as Charge
    const { result } = this
    const table = this.tables[0] as Table
    const state = this.states[0] as KeyState
    let slot = table.find(charge.key)
    if (slot < 0) {
      this.makeRoom(charges, now)
      slot = this.slots[0] as number
    }
    if (slot < 0) empty(state)
    else table.slots.load(slot, state)
    decideOne(state, charge, now, charge.cost)
    const { admitted } = state
    result.admitted = admitted
    result.at = now
    if (commitOne(state, charge, now, admitted ? charge.cost : 0)) {
      this.write(0, slot, charge, now)
    } else if (!admitted && slot >= 0) {
      table.slots.setUsage(slot, EXHAUSTED)
    }
    return result
  }

  peek(charges: readonly Charge[]): StoreResult {
    this.find(charges)
    return this.decide(charges, this.store.clock())
  }

  settle(charges: readonly Charge[], chargedAt?: number): void {
    const now = this.store.clock()
    const missing = this.find(charges)
    if (missing > 0 && charges.some(({ cost }) => cost > 0)) this.makeRoom(charges, now)
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const settled = settleOne(this.load(i), charge, now, chargedAt ?? now)
      if (settled === 'delete') this.tables[i]?.delete(charge.key)
      else if (settled === 'keep') this.write(i, this.slots[i] as number, charge, now)
    }
  }

  renew(requests: readonly (readonly Charge[])[]): void {
    const { store, slots } = this
    const now = store.clock()
    for (const renewal of renewalsOf(requests)) {
      const { place, key, limit } = renewal
      slots[place] = (this.tables[place] as Table).find(key)
      const needsOne = slots[place] === -1 && store.size >= store.maxKeys
      if (needsOne && !store.makeRoom(now)) slots[place] = OVERFLOW
      if (renewOne(this.load(place), renewal, now)) {
        this.write(place, slots[place] as number, { key, limit, cost: 0 }, now)
      }
    }
  }

  block(keys: readonly string[], durationMs: number): void {
    const now = this.store.clock()
    const charges = keys.map((key) => ({ key }))
    if (this.find(charges) > 0) this.makeRoom(charges, now)
    for (let i = 0; i < keys.length; i += 1) {
      const table = this.tables[i] as Table
      const key = keys[i] as string
      if (this.slots[i] === OVERFLOW) this.store.displace(table)
      const slot = table.find(key)
      table.slots.block(slot < 0 ? table.add(key) : slot, now + durationMs)
      this.store.kept(table, now)
    }
  }

  reset(keys: readonly string[]): void {
    for (let i = 0; i < keys.length; i += 1) this.tables[i]?.delete(keys[i] as string)
  }

  /** Finds the slots of the keys; returns how many have none. */
  private find(charges: readonly Keyed[]): number {
    let missing = 0
    for (let i = 0; i < charges.length; i += 1) {
      const slot = (this.tables[i] as Table).find((charges[i] as Charge).key)
      this.slots[i] = slot
      if (slot < 0 && needsRoom(charges[i] as Keyed)) missing += 1
    }
    return missing
  }

  /**
   * Makes room for the keys that have no slot. Those that find none share the overflow slot of
   * their table, because every other key is being refused.
   */
  private makeRoom(charges: readonly Keyed[], now: number): void {
    const { store, slots } = this
    let room = store.maxKeys - store.size
    // The freed key may be one of these charges, so find all of them again.
    while (this.find(charges) > room && store.makeRoom(now)) room = store.maxKeys - store.size
    for (let i = 0; i < charges.length; i += 1) {
      if (slots[i] === -1 && needsRoom(charges[i] as Keyed) && --room < 0) slots[i] = OVERFLOW
    }
  }

  private decide(charges: readonly Charge[], now: number): StoreResult {
    for (let i = 0; i < charges.length; i += 1) this.load(i)
    this.result.admitted = decideAll(this.states, charges, now)
    this.result.at = now
    return this.result
  }

  /** Loads and returns the state of a charge. */
  private load(i: number): KeyState {
    const slot = this.slots[i] as number
    const state = this.states[i] as KeyState
    if (slot < 0) empty(state)
    else this.tables[i]?.slots.load(slot, state)
    return state
  }

  private write(i: number, slot: number, { key, limit }: Charge, now: number): void {
    const { store } = this
    // With every other key refused there is no room to count refusals: keys must not share a ban.
    const isFull = slot < 0 && limit.countsRefusals && store.size >= store.maxKeys
    if (isFull && !store.makeRoom(now)) return
    const table = this.tables[i] as Table
    const state = this.states[i] as KeyState
    const place = slot < 0 ? table.add(key) : slot
    const keepMs = keepMsOf(state, limit, now)
    table.slots.save(place, state, now, keepMs, this.usage(i, state, limit, now))
    this.store.kept(table, now)
  }

  /** The share in use of what the quota holds when whole, 0 … 254, or `EXHAUSTED`. */
  private usage(i: number, { remaining }: KeyState, limit: CompiledLimit, now: number): number {
    // A slot that is in use must not be forgotten: one too many would be admitted.
    if (remaining < 1 || limit.algorithm.holdsSlots === true) return EXHAUSTED
    // A division costs more than all the rest of it.
    if (this.scaledFor[i] !== limit) {
      const { unused } = this
      empty(unused)
      limit.decide(unused, now, 0)
      this.scaledFor[i] = limit
      this.scales[i] = 254 / unused.remaining
    }
    return 254 - ((remaining * (this.scales[i] as number)) | 0)
  }
}

/** What counts refusals has a key only once there was one. That is its last charge to be written. */
function needsRoom({ limit }: Keyed): boolean {
  return limit?.countsRefusals !== true
}

/** The state of a key never seen. */
function empty(state: KeyState): void {
  state.a = state.b = state.c = 0
  state.log = undefined
  state.blockedUntil = 0
}
