import {
  type Held,
  HeldArray,
  NumberReader,
  NumberWriter,
  numbersIn,
  putHeld,
  takeHeld,
} from '@sluice/core/internal-stores'
import type { Claim } from '@sluice/core/store'
import type { StateChange } from '../transactional-backend.ts'
import type { Parts } from './parts.ts'

/** The number of parts: a call about all of them reads and writes so many rows. */
const COUNT = 32
const ALL: readonly number[] = Array.from({ length: COUNT }, (_, id) => id)

/** One part: entries, and how many entries of all parts some owners have. */
interface HeldPart {
  readonly entries: HeldArray
  readonly owners: Map<number, number>
}

/** The numbers of an entry: when it ends, its slot, for how long it is held, and more. */
type Entry = readonly [until: number, slot: number, holdMs: number, ...extras: number[]]

/**
 * Reservations in 32 parts by the numbers of their slots, so that a call touches only the parts it needs.
 * The state has of each part how many entries it has, and when the first and the last of them ends. The count of an
 * owner is in the part of the owner's number.
 */
export class PartedHeld implements Held {
  readonly extras: number
  clock: number
  length = 0
  /** Tells the parts of this state from those of one that was reset. */
  readonly #generation: number
  readonly #parts: Parts
  /** Entries that have an owner, which is a number above 0. */
  owned = 0
  /** Each part has its entries, when the first and the last of them ends, and until when its row is kept; 0: there is none. */
  counts = zeros()
  firsts = zeros()
  lasts = zeros()
  kept = zeros()
  readonly loaded = new Map<number, HeldPart>()
  /** The parts that must be written. */
  readonly changed = new Set<number>()
  /** The parts that no copy shares. */
  readonly #own = new Set<number>()

  private constructor(extras: number, clock: number, generation: number, parts: Parts) {
    this.extras = extras
    this.clock = clock
    this.#generation = generation
    this.#parts = parts
  }

  /** @throws MissingKeys if the transaction has not read all parts */
  static from(held: HeldArray, parts: Parts): PartedHeld {
    parts.need(ALL)
    const generation = Math.floor(Math.random() * 2 ** 32)
    const parted = new PartedHeld(held.extras, 0, generation, parts)
    for (const [until, slot, holdMs, ...extras] of entriesOf(held))
      parted.add(until - holdMs, slot, holdMs, extras)
    parted.clock = held.clock
    return parted
  }

  /** Reads the numbers of {@link encode}. */
  static decode(numbers: NumberReader, parts: Parts): PartedHeld {
    const next = () => numbers.next()
    const held = new PartedHeld(next(), next(), next(), parts)
    held.owned = next()
    const from = next()
    for (const id of ALL) {
      const kept = next()
      const count = next()
      held.length += count
      held.counts[id] = count
      if (kept > 0) held.kept[id] = from + kept
      if (count === 0) continue
      const first = from + next()
      held.firsts[id] = first
      held.lasts[id] = first + next()
    }
    return held
  }

  /** The parts that a call with a claim needs. */
  static partsOf(claim: Claim): number[] {
    return numbersIn(claim).map(partOf)
  }

  /** The parts that a call at some time probably needs, since something in them has ended. It keeps no entries. */
  partsOfNext(): (time: number) => readonly number[] {
    const firsts = this.firsts.slice()
    return (time) =>
      ALL.filter((id) => (firsts[id] as number) > 0 && (firsts[id] as number) <= time)
  }

  endedAt(time: number): number {
    let ended = 0
    const partly: number[] = []
    for (const id of this.#begun(time)) {
      if ((this.lasts[id] as number) <= time) ended += this.counts[id] as number
      else partly.push(id)
    }
    for (const { entries } of this.#load(partly)) ended += entries.endedAt(time)
    return ended
  }

  lastEnd(now: number): number {
    if (this.clock <= now) return Math.max(now, ...this.lasts)
    return Math.max(now, ...this.#load(this.#used()).map(({ entries }) => entries.lastEnd(now)))
  }

  countOf(owner: number): number {
    if (owner === 0) return this.length - this.owned
    const [{ owners }] = this.#load([partOf(owner)]) as [HeldPart]
    return owners.get(owner) ?? 0
  }

  apart(now: number, most: number) {
    const ids = this.#begun(now)
    if (ids.length === 0) return undefined
    const all = this.#load(ids).flatMap(({ entries }) => {
      const apart = entries.apart(now, most)
      return apart === undefined ? [] : entriesOf(apart.ended)
    })
    const ended = all.sort(byEnd).slice(0, most)
    const others = this.#copy()
    others.dropFirst(ended, now)
    const numbers = new Float64Array(ended.length * (3 + this.extras))
    for (const [i, entry] of ended.entries()) numbers.set(entry, i * entry.length)
    return { ended: HeldArray.from(this.extras, this.clock, numbers), others }
  }

  holdAsOf(now: number): void {
    if (this.clock <= now) return
    const used = this.#used()
    this.#load(used)
    for (const id of used) {
      this.#change(id).entries.holdAsOf(now)
      this.#refresh(id)
    }
    this.clock = now
  }

  add(at: number, slot: number, holdMs: number, extras: readonly number[] = []): void {
    const owner = ownerOf(extras)
    this.#load([partOf(slot), ...ownerPart(owner)])
    const id = partOf(slot)
    this.#change(id).entries.add(at, slot, holdMs, extras)
    this.#refresh(id)
    this.#countOwner(owner, 1)
    if (at > this.clock) this.clock = at
  }

  renew(at: number, slots: readonly number[], holdMs: number): void {
    this.#load(slots.map(partOf))
    for (const [id, own] of byPart(slots)) {
      const { entries } = this.#change(id)
      entries.renew(at, own, holdMs)
      this.#refresh(id)
      this.clock = Math.max(this.clock, entries.clock)
    }
  }

  take(slots: readonly number[]): ReadonlyMap<number, readonly number[]> {
    const taken = new Map<number, readonly number[]>()
    const left = new Map<number, HeldArray>()
    const owners: [owner: number, count: number][] = []
    this.#load(slots.map(partOf))
    for (const slot of slots) {
      const id = partOf(slot)
      const entries = left.get(id) ?? (this.loaded.get(id) as HeldPart).entries.copy()
      const before = entries.length
      const extras = entries.take([slot]).get(slot)
      if (extras === undefined) continue
      left.set(id, entries)
      taken.set(slot, extras)
      owners.push([ownerOf(extras), before - entries.length])
    }
    this.#load(owners.flatMap(([owner]) => ownerPart(owner)))
    for (const [id, entries] of left) this.#replace(id, entries)
    for (const [owner, count] of owners) this.#countOwner(owner, -count)
    return taken
  }

  /** Writes the state to a writer, and the parts that have changed or would be forgotten before it. */
  encode(numbers: NumberWriter, now: number, ttlMs: number): StateChange[] {
    const isShort = (id: number) => this.kept[id] !== 0 && (this.kept[id] as number) < now + ttlMs
    const short = ALL.filter((id) => isShort(id) && !this.changed.has(id))
    this.#load(short)
    for (const id of short) this.#change(id)
    const changes = [...this.changed].map((id) => this.#changeOf(id, now, 2 * ttlMs))
    const from = Math.min(now, ...this.#used().map((id) => this.firsts[id] as number))
    for (const each of [this.extras, this.clock, this.#generation, this.owned, from])
      numbers.put(each)
    for (const id of ALL) {
      const [count = 0, first = 0, last = 0, kept = 0] = this.#summaryOf(id)
      numbers.put(kept === 0 ? 0 : Math.max(1, kept - from))
      numbers.put(count)
      if (count === 0) continue
      numbers.put(first - from)
      numbers.put(last - first)
    }
    return changes
  }

  #changeOf(id: number, now: number, ttlMs: number): StateChange {
    const { entries, owners } = this.loaded.get(id) as HeldPart
    const isEmpty = entries.length === 0 && owners.size === 0
    this.kept[id] = isEmpty ? 0 : now + ttlMs
    const state = isEmpty ? undefined : encodePart(this.#generation, { entries, owners })
    return { key: this.#parts.key(id), state, ttlMs }
  }

  /** The parts with entries. */
  #used(): number[] {
    return ALL.filter((id) => this.counts[id] !== 0)
  }

  /** The parts with an entry that ends at `time` or before. */
  #begun(time: number): number[] {
    return this.#used().filter((id) => (this.firsts[id] as number) <= time)
  }

  /** @throws MissingKeys if the transaction has not read all of these */
  #load(ids: readonly number[]): HeldPart[] {
    this.#parts.need(ids.filter((id) => !this.loaded.has(id)))
    return ids.map((id) => this.loaded.get(id) ?? this.#read(id))
  }

  #read(id: number): HeldPart {
    const part = decodePart(this.#parts.get(id), this.#generation, this.extras, this.clock)
    // The row of a part without entries may have some that have ended.
    const isUsed = this.counts[id] !== 0
    const read = isUsed ? part : { ...part, entries: new HeldArray(this.extras, this.clock) }
    this.loaded.set(id, read)
    // The rows of a table that loses some are what counts.
    if (read.entries.length !== this.counts[id]) this.#refresh(id)
    return read
  }

  /** A part to be changed, which no copy shares. It is loaded. */
  #change(id: number): HeldPart {
    const part = this.loaded.get(id) as HeldPart
    this.changed.add(id)
    if (this.#own.has(id)) return part
    const own = { entries: part.entries.copy(), owners: new Map(part.owners) }
    this.#own.add(id)
    this.loaded.set(id, own)
    return own
  }

  /** Drops entries, which are the first of their parts and have ended at `now`. Those are loaded. */
  dropFirst(ended: readonly Entry[], now: number): void {
    this.#load([...new Set(ended.flatMap((entry) => ownerPart(ownerOf(entry))))])
    const counts = new Map<number, number>()
    for (const entry of ended) {
      const id = partOf(entry[1])
      counts.set(id, (counts.get(id) ?? 0) + 1)
      this.#countOwner(ownerOf(entry), -1)
    }
    for (const [id, count] of counts) {
      const { entries } = this.loaded.get(id) as HeldPart
      this.#replace(id, entries.apart(now, count)?.others ?? entries)
    }
  }

  /** Gives a part, which is loaded, entries that no copy shares. */
  #replace(id: number, entries: HeldArray): void {
    const { owners } = this.#change(id)
    this.loaded.set(id, { entries, owners })
    this.#refresh(id)
  }

  /** @param by how many more. The part of the owner is loaded */
  #countOwner(owner: number, by: number): void {
    if (owner === 0) return
    this.owned += by
    const { owners } = this.#change(partOf(owner))
    const count = (owners.get(owner) ?? 0) + by
    if (count > 0) owners.set(owner, count)
    else owners.delete(owner)
  }

  #refresh(id: number): void {
    const { entries } = this.loaded.get(id) as HeldPart
    const { length } = entries
    if (length === 0) this.#set(id, 0, 0, 0)
    else this.#set(id, length, entries.until(0), entries.until(length - 1))
  }

  #set(id: number, count: number, first: number, last: number): void {
    this.length += count - (this.counts[id] as number)
    this.counts[id] = count
    this.firsts[id] = first
    this.lasts[id] = last
  }

  #summaryOf(id: number): (number | undefined)[] {
    return [this.counts[id], this.firsts[id], this.lasts[id], this.kept[id]]
  }

  #copy(): PartedHeld {
    const copy = new PartedHeld(this.extras, this.clock, this.#generation, this.#parts)
    copy.length = this.length
    copy.owned = this.owned
    copy.counts = this.counts.slice()
    copy.firsts = this.firsts.slice()
    copy.lasts = this.lasts.slice()
    copy.kept = this.kept.slice()
    for (const [id, part] of this.loaded) copy.loaded.set(id, part)
    for (const id of this.changed) copy.changed.add(id)
    this.#own.clear()
    return copy
  }
}

function zeros(): number[] {
  return Array(COUNT).fill(0)
}

/** The part of a slot, or of an owner. */
function partOf(number: number): number {
  return Math.imul(number ^ Math.floor(number / 2 ** 32), 0x9e3779b1) >>> 27
}

/** The slots of each part. */
function byPart(slots: readonly number[]): ReadonlyMap<number, number[]> {
  const parts = new Map<number, number[]>()
  for (const slot of slots) {
    const own = parts.get(partOf(slot))
    if (own === undefined) parts.set(partOf(slot), [slot])
    else own.push(slot)
  }
  return parts
}

/** The part of an owner, if it is one. */
function ownerPart(owner: number): number[] {
  return owner > 0 ? [partOf(owner)] : []
}

/** The last one; 0: there is none. */
function ownerOf(extras: readonly number[]): number {
  return extras.at(-1) ?? 0
}

function entriesOf(held: HeldArray): Entry[] {
  const width = 3 + held.extras
  const numbers = held.all()
  const entries: Entry[] = []
  for (let from = 0; from < numbers.length; from += width) {
    const entry: number[] = []
    for (let i = 0; i < width; i += 1) entry.push(numbers[from + i] as number)
    entries.push(entry as unknown as Entry)
  }
  return entries
}

function byEnd(one: Entry, other: Entry): number {
  return one[0] - other[0] || one[1] - other[1]
}

/** The generation; the entries; the owners. */
function encodePart(generation: number, { entries, owners }: HeldPart): Uint8Array {
  const numbers = new NumberWriter()
  numbers.put(generation)
  putHeld(numbers, entries)
  numbers.put(owners.size)
  for (const [owner, count] of owners) {
    numbers.put(owner)
    numbers.put(count)
  }
  return numbers.done()
}

function decodePart(
  bytes: Uint8Array | undefined,
  generation: number,
  extras: number,
  clock: number,
): HeldPart {
  const owners = new Map<number, number>()
  const numbers = new NumberReader(bytes ?? new Uint8Array())
  const isOurs = bytes !== undefined && numbers.next() === generation
  if (!isOurs) return { entries: new HeldArray(extras, clock), owners }
  const entries = takeHeld(numbers, extras, clock)
  for (let count = numbers.next(); count > 0; count -= 1) owners.set(numbers.next(), numbers.next())
  return { entries, owners }
}
