import { Cell } from '../../algorithms/algorithm.ts'
import type { Charge, Ledger, Ruling } from '../store.ts'
import type { MemoryStore } from './memory-store.ts'
import { EXHAUSTED, OVERFLOW } from './slots.ts'
import type { Table } from './table.ts'

/** Decides on the tables of a memory store, one for each policy. */
export class MemoryLedger implements Ledger<'sync'> {
  private readonly store: MemoryStore
  private readonly tables: readonly Table[]
  /** For each policy, filled in anew by every call: its state on the way through the step. */
  private readonly cells: readonly Cell[]
  /** For each policy, filled in anew by every call: the slot of its key, or -1. */
  private readonly slots: number[]
  private readonly ruling: Ruling

  constructor(store: MemoryStore, tables: readonly Table[]) {
    this.store = store
    this.tables = tables
    this.cells = tables.map(() => new Cell())
    this.slots = tables.map(() => -1)
    this.ruling = { admitted: false, at: 0, source: 'store', outcomes: this.cells }
  }

  consume(charges: readonly Charge[]): Ruling {
    const now = this.store.clock()
    if (this.find(charges) > 0) this.makeRoom(charges, now)
    const ruling = this.decide(charges, now)
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const cell = this.cells[i] as Cell
      const cost = ruling.admitted ? charge.cost : 0
      if (cost > 0 || (cell.rebased && cell.admitted === ruling.admitted)) {
        charge.quota.keep?.(cell, now, cost)
        this.write(i, charge, now)
      } else if (!cell.admitted && (this.slots[i] as number) >= 0) {
        this.tables[i]?.slots.setStanding(this.slots[i] as number, EXHAUSTED)
      }
    }
    return ruling
  }

  peek(charges: readonly Charge[]): Ruling {
    this.find(charges)
    return this.decide(charges, this.store.clock())
  }

  settle(charges: readonly Charge[], chargedAt?: number): void {
    const now = this.store.clock()
    const missing = this.find(charges)
    if (missing > 0 && charges.some(({ cost }) => cost > 0)) this.makeRoom(charges, now)
    for (let i = 0; i < charges.length; i += 1) {
      const charge = charges[i] as Charge
      const cell = this.cells[i] as Cell
      if (this.load(i, now) > 0) continue
      charge.quota.settle(cell, now, charge.cost, chargedAt ?? now)
      if (cell.resetMs === 0) this.tables[i]?.delete(charge.key)
      else this.write(i, charge, now)
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
    }
  }

  reset(keys: readonly string[]): void {
    for (let i = 0; i < keys.length; i += 1) this.tables[i]?.delete(keys[i] as string)
  }

  /** Finds the slots of the keys; returns how many have none. */
  private find(charges: readonly { key: string }[]): number {
    let missing = 0
    for (let i = 0; i < charges.length; i += 1) {
      const slot = (this.tables[i] as Table).find((charges[i] as Charge).key)
      this.slots[i] = slot
      if (slot < 0) missing += 1
    }
    return missing
  }

  /**
   * Makes room for the keys that have no slot. Those that find none share the overflow slot of
   * their table, because every other key is being refused.
   */
  private makeRoom(charges: readonly { key: string }[], now: number): void {
    const { store, slots } = this
    let room = store.maxKeys - store.size
    // What is freed may be a key of these very charges, so all of them are found anew.
    while (this.find(charges) > room && store.makeRoom(now)) room = store.maxKeys - store.size
    for (let i = 0; i < charges.length; i += 1) {
      if (slots[i] === -1 && --room < 0) slots[i] = OVERFLOW
    }
  }

  private decide(charges: readonly Charge[], now: number): Ruling {
    let admitted = true
    for (let i = 0; i < charges.length; i += 1) {
      const { quota, cost } = charges[i] as Charge
      const cell = this.cells[i] as Cell
      const blockedMs = this.load(i, now)
      if (blockedMs > 0) refuse(cell, blockedMs)
      else quota.decide(cell, now, cost)
      if (!cell.admitted) admitted = false
    }
    if (!admitted && charges.length > 1) this.uncharge(charges, now)
    this.ruling.admitted = admitted
    this.ruling.at = now
    return this.ruling
  }

  /** Where another policy refused, one that would have admitted is shown as it stands. */
  private uncharge(charges: readonly Charge[], now: number): void {
    for (let i = 0; i < charges.length; i += 1) {
      const cell = this.cells[i] as Cell
      if (!cell.admitted) continue
      this.load(i, now)
      charges[i]?.quota.decide(cell, now, 0)
    }
  }

  /** Loads a state into its cell. Returns for how many ms the key is still blocked. */
  private load(i: number, now: number): number {
    const slot = this.slots[i] as number
    const cell = this.cells[i] as Cell
    if (slot < 0) {
      cell.a = cell.b = cell.c = 0
      cell.log = undefined
      return 0
    }
    return (this.tables[i] as Table).slots.load(slot, cell, now)
  }

  private write(i: number, { key, quota }: Charge, now: number): void {
    const table = this.tables[i] as Table
    const cell = this.cells[i] as Cell
    let slot = this.slots[i] as number
    if (slot < 0) slot = table.add(key)
    table.slots.save(slot, cell, now, standing(cell.remaining, quota.limit))
  }
}

/** The share of the quota in use, 0 … 254, or `EXHAUSTED`. */
function standing(remaining: number, limit: number): number {
  if (remaining < 1) return EXHAUSTED
  return remaining >= limit ? 0 : Math.ceil((1 - remaining / limit) * 254)
}

function refuse(cell: Cell, blockedMs: number): void {
  cell.admitted = false
  cell.rebased = false
  cell.remaining = 0
  cell.resetMs = blockedMs
  cell.waitMs = blockedMs
  cell.delayMs = 0
}
