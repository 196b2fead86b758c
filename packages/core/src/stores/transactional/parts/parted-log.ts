import { type Log, LogArray } from '../../../algorithms/sliding-log/log.ts'
import type { StateChange } from '../transactional-backend.ts'
import { NumberReader, NumberWriter } from './numbers.ts'
import type { Parts } from './parts.ts'

/** Entries of a block, at most; as many as a new one gets of others. */
const MOST = 128
const HALF = MOST / 2
/** A block with fewer entries is joined to its neighbour, if both fit into one. */
const FEW = MOST / 4
/** A transaction reads the next block too if the last one has room for fewer. */
const ROOM = 8

/** A block of entries that follow each other. */
interface Block {
  readonly id: number
  count: number
  /** The times of its first and its last entry. */
  first: number
  last: number
  units: number
  /** Until when its row is kept, ms; 0: it has none yet. */
  kept: number
  entries: LogArray | undefined
  isChanged: boolean
}

/**
 * A log in blocks, so that a call reads and writes only those that it is about, mostly the first and the last. The
 * state has of each block its times and what it holds. Of the first one, entries may have been dropped that its row
 * still has.
 */
export class PartedLog implements Log {
  total = 0
  readonly #generation: number
  readonly #parts: Parts
  blocks: Block[] = []
  /** The entries of the row of the first block up to this time are dropped. */
  droppedUntil = 0
  /** Blocks that are no more. */
  readonly #gone = new Set<number>()

  private constructor(generation: number, parts: Parts) {
    this.#generation = generation
    this.#parts = parts
  }

  /** @throws MissingKeys if the transaction has not read the parts that it needs */
  static from(log: LogArray, parts: Parts): PartedLog {
    const count = Math.ceil(log.length / HALF)
    parts.need(Array.from({ length: count }, (_, id) => id))
    const parted = new PartedLog(Math.floor(Math.random() * 2 ** 32), parts)
    for (let id = 0; id < count; id += 1) {
      const entries = new LogArray()
      const end = Math.min(log.length, (id + 1) * HALF)
      for (let i = id * HALF; i < end; i += 1) entries.push(log.time(i), log.cost(i))
      parted.insert(id, entries)
    }
    parted.total = log.total
    return parted
  }

  /** Reads the numbers of {@link encode}. */
  static decode(numbers: NumberReader, parts: Parts): PartedLog {
    const next = () => numbers.next()
    const log = new PartedLog(next(), parts)
    log.droppedUntil = next()
    let last = 0
    for (let count = next(); count > 0; count -= 1) {
      const [id, held, first] = [next(), next(), last + next()] as const
      last = first + next()
      const [units, kept] = [next(), last + next()] as const
      log.blocks.push({
        id,
        count: held,
        first,
        last,
        units,
        kept,
        entries: undefined,
        isChanged: false,
      })
      log.total += units
    }
    return log
  }

  get length(): number {
    return this.blocks.reduce((sum, { count }) => sum + count, 0)
  }

  get newest(): number | undefined {
    return this.blocks.at(-1)?.last
  }

  /** The parts that the next call probably needs. It keeps nothing of the log. */
  partsOfNext(): () => readonly number[] {
    const last = this.blocks.at(-1)
    const ids = [this.blocks[0]?.id ?? 0, last?.id ?? 0]
    if (last !== undefined && last.count > MOST - ROOM) ids.push(this.#freeId())
    return () => ids
  }

  unitsUntil(time: number): number {
    let units = 0
    for (const block of this.blocks) {
      if (block.first > time) break
      units += block.last <= time ? block.units : this.#load(block).unitsUntil(time)
    }
    return units
  }

  timeOf(units: number, time: number): number | undefined {
    let held = 0
    for (const block of this.blocks) {
      if (block.last <= time) continue
      if (block.first > time && units <= held + 1) return block.first
      const own = block.first > time ? block.units : this.#unitsAfter(block, time)
      if (held + own >= units) return this.#load(block).timeOf(units - held, time)
      held += own
    }
    return undefined
  }

  add(at: number, cost: number): void {
    const { blocks } = this
    const last = blocks.at(-1)
    if (last === undefined || (at > last.last && last.count >= MOST)) {
      const entries = new LogArray()
      entries.push(at, cost)
      this.insert(blocks.length, entries)
    } else {
      const index =
        at >= last.last ? blocks.length - 1 : blocks.findIndex((block) => block.last >= at)
      const block = blocks[index] as Block
      this.#change(block).add(at, cost)
      this.#refresh(block)
      if (block.count > MOST) this.#divide(index)
    }
    this.total += cost
  }

  takeBack(at: number, units: number): void {
    let left = units
    let index = this.blocks.findLastIndex((block) => block.first <= at)
    for (; index >= 0 && left > 0; index -= 1) {
      const block = this.blocks[index] as Block
      const before = block.units
      if (block.last <= at && before <= left) this.#forget(block)
      else {
        this.#change(block).takeBack(at, left)
        this.#refresh(block)
      }
      left -= before - block.units
      this.total -= before - block.units
    }
    this.blocks = this.blocks.filter(({ count }) => count > 0)
    // Those before and behind what is gone.
    this.#join(index + 2)
    this.#join(index + 1)
  }

  dropUntil(time: number): void {
    while (this.blocks[0] !== undefined && this.blocks[0].last <= time) {
      const block = this.blocks.shift() as Block
      this.total -= block.units
      this.#forget(block)
    }
    const [block] = this.blocks
    if (block === undefined || block.first > time) return
    const entries = this.#load(block)
    const units = block.units
    entries.dropUntil(time)
    this.droppedUntil = time
    this.#refresh(block)
    this.total -= units - block.units
  }

  clampTo(now: number): void {
    if (this.newest === undefined || this.newest <= now) return
    const index = this.blocks.findIndex((block) => block.last > now)
    const block = this.blocks[index] as Block
    const entries = this.#change(block)
    let moved = 0
    for (const each of this.blocks.splice(index + 1)) {
      moved += each.units
      this.#forget(each)
    }
    entries.clampTo(now)
    if (moved > 0) entries.add(now, moved)
    this.#refresh(block)
  }

  /** Writes the state to a writer, and the parts that have changed or would be forgotten before it. */
  encode(numbers: NumberWriter, now: number, ttlMs: number): StateChange[] {
    const short = this.blocks.filter((block) => !block.isChanged && block.kept < now + ttlMs)
    this.#parts.need(short.map(({ id }) => id))
    for (const block of short) this.#change(block)
    const changes: StateChange[] = [...this.#gone]
      .filter((id) => this.#parts.has(id))
      .map((id) => ({ key: this.#parts.key(id), state: undefined, ttlMs: 0 }))
    if (this.blocks[0]?.isChanged) this.droppedUntil = 0
    for (const each of [this.#generation, this.droppedUntil, this.blocks.length]) numbers.put(each)
    let before = 0
    for (const block of this.blocks) {
      if (block.isChanged) {
        block.kept = now + 2 * ttlMs
        const state = encodeBlock(this.#generation, block.entries as LogArray)
        changes.push({ key: this.#parts.key(block.id), state, ttlMs: 2 * ttlMs })
      }
      const { id, count, first, last, units, kept } = block
      for (const each of [id, count, first - before, last - first, units]) numbers.put(each)
      numbers.put(Math.max(0, kept - last))
      before = last
    }
    return changes
  }

  /** Units of the entries of a block after `time`. */
  #unitsAfter(block: Block, time: number): number {
    return block.units - this.#load(block).unitsUntil(time)
  }

  /** @throws MissingKeys if the transaction has not read it */
  #load(block: Block): LogArray {
    if (block.entries !== undefined) return block.entries
    const entries = decodeBlock(this.#parts.get(block.id), this.#generation)
    if (block === this.blocks[0]) entries.dropUntil(this.droppedUntil)
    block.entries = entries
    // The rows of a table that loses some are what counts.
    if (entries.total !== block.units) {
      this.total += entries.total - block.units
      this.#refresh(block)
    }
    return entries
  }

  #change(block: Block): LogArray {
    const entries = this.#load(block)
    this.#parts.need([block.id])
    block.isChanged = true
    return entries
  }

  #refresh(block: Block): void {
    const entries = block.entries as LogArray
    block.count = entries.length
    block.units = entries.total
    block.first = entries.length === 0 ? block.last : entries.time(0)
    block.last = entries.newest ?? block.last
  }

  /** A new block. */
  insert(index: number, entries: LogArray): void {
    const id = this.#freeId()
    this.#parts.need([id])
    this.#gone.delete(id)
    const block = { id, count: 0, first: 0, last: 0, units: 0, kept: 0, entries, isChanged: true }
    this.#refresh(block)
    this.blocks.splice(index, 0, block)
  }

  #divide(index: number): void {
    const block = this.blocks[index] as Block
    const entries = block.entries as LogArray
    const [left, right] = [new LogArray(), new LogArray()]
    for (let i = 0; i < entries.length; i += 1)
      (i < HALF ? left : right).push(entries.time(i), entries.cost(i))
    block.entries = left
    this.#refresh(block)
    this.insert(index + 1, right)
  }

  /** Joins a block that has become small to one of its neighbours. */
  #join(index: number): void {
    const block = this.blocks[index]
    if (block === undefined || block.count >= FEW) return
    const fits = (other: Block | undefined) =>
      other !== undefined && other.count + block.count <= MOST
    const first = [index - 1, index].find((each) =>
      fits(this.blocks[each === index ? index + 1 : each]),
    )
    if (first === undefined) return
    const [left, right] = this.blocks.slice(first, first + 2) as [Block, Block]
    const entries = this.#load(right)
    const joined = this.#change(left)
    for (let i = 0; i < entries.length; i += 1) joined.push(entries.time(i), entries.cost(i))
    this.#refresh(left)
    this.#forget(right)
    this.blocks.splice(first + 1, 1)
  }

  /** Its row says nothing any more. */
  #forget(block: Block): void {
    this.#gone.add(block.id)
    block.count = 0
    block.units = 0
  }

  #freeId(): number {
    const used = new Set(this.blocks.map(({ id }) => id))
    let id = 0
    while (used.has(id)) id += 1
    return id
  }
}

/** The generation; of each entry how long it is after the one before it, and its units. */
function encodeBlock(generation: number, entries: LogArray): Uint8Array {
  const numbers = new NumberWriter()
  numbers.put(generation)
  numbers.put(entries.length)
  let before = 0
  for (let i = 0; i < entries.length; i += 1) {
    const time = entries.time(i)
    numbers.put(time - before)
    numbers.put(entries.cost(i))
    before = time
  }
  return numbers.done()
}

function decodeBlock(bytes: Uint8Array | undefined, generation: number): LogArray {
  const entries = new LogArray()
  if (bytes === undefined) return entries
  const numbers = new NumberReader(bytes)
  if (numbers.next() !== generation) return entries
  let time = 0
  for (let count = numbers.next(); count > 0; count -= 1) {
    time += numbers.next()
    entries.push(time, numbers.next())
  }
  return entries
}
