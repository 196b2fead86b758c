import type { Cell } from '../../algorithms/algorithm.ts'
import type { Log } from '../../algorithms/sliding-log/log.ts'

const PAGE_BITS = 12
const PAGE = 2 ** PAGE_BITS
const WIDTH = 4

/** The standing of a key that was refused, or has nothing left. */
export const EXHAUSTED = 255

/**
 * States in numbered slots: 33 bytes each in pages of typed arrays, so that growing copies nothing
 * and the garbage collector has nothing to visit. Per slot: the cell's three integers, the time at
 * which the quota is whole again and the slot can be freed (negative: the key is blocked until
 * then), and the standing: the share of the quota in use, 0 … 254, or `EXHAUSTED`.
 */
export class Slots {
  private readonly pages: Float64Array[] = []
  private readonly standings: Uint8Array[] = []
  private logs: (Log | undefined)[] | undefined
  private readonly free: number[] = []
  private next = 0

  /** A slot with the state of a key never seen. */
  claim(): number {
    const slot = this.free.pop() ?? this.next++
    if (slot >> PAGE_BITS === this.pages.length) {
      this.pages.push(new Float64Array(PAGE * WIDTH))
      this.standings.push(new Uint8Array(PAGE))
    }
    return slot
  }

  release(slot: number): void {
    this.clear(slot)
    this.free.push(slot)
  }

  clear(slot: number): void {
    const offset = (slot & (PAGE - 1)) * WIDTH
    this.page(slot).fill(0, offset, offset + WIDTH)
    this.setStanding(slot, 0)
    if (this.logs !== undefined) this.logs[slot] = undefined
  }

  load(slot: number, cell: Cell): void {
    const page = this.page(slot)
    const offset = (slot & (PAGE - 1)) * WIDTH
    cell.a = page[offset] as number
    cell.b = page[offset + 1] as number
    cell.c = page[offset + 2] as number
    cell.log = this.logs === undefined ? undefined : this.logs[slot]
  }

  save(slot: number, cell: Cell, freeAt: number): void {
    const page = this.page(slot)
    const offset = (slot & (PAGE - 1)) * WIDTH
    page[offset] = cell.a
    page[offset + 1] = cell.b
    page[offset + 2] = cell.c
    page[offset + 3] = freeAt
    if (cell.log !== undefined) {
      this.logs ??= []
      this.logs[slot] = cell.log
    }
  }

  /** When the slot can be freed, ms; negative: blocked until then. */
  freeAt(slot: number): number {
    return this.page(slot)[(slot & (PAGE - 1)) * WIDTH + 3] as number
  }

  block(slot: number, until: number): void {
    this.clear(slot)
    this.page(slot)[(slot & (PAGE - 1)) * WIDTH + 3] = -until
    this.setStanding(slot, EXHAUSTED)
  }

  standing(slot: number): number {
    return (this.standings[slot >> PAGE_BITS] as Uint8Array)[slot & (PAGE - 1)] as number
  }

  setStanding(slot: number, standing: number): void {
    ;(this.standings[slot >> PAGE_BITS] as Uint8Array)[slot & (PAGE - 1)] = standing
  }

  private page(slot: number): Float64Array {
    return this.pages[slot >> PAGE_BITS] as Float64Array
  }
}
