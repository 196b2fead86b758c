import type { InspectableStore, InspectOptions, StoreEntry } from '@sluice/core'
import type { BlockedNetwork } from '@sluice/core/operator'
import { Heap } from 'heap-js'
import { type EntryRecord, idOf, toRecord } from './entry-record.ts'
import type { Order } from './flags.ts'
import { blockedNetworks, endsByKey, storeTime } from './networks.ts'
import { Reading, type Unreadable } from './reading.ts'

/** An entry, and how much more of it is used each second than at the last ranking. */
export interface RankedRecord extends EntryRecord {
  /** Units a second; undefined if the last ranking did not have it. */
  readonly rate: number | undefined
  /** The block, ban or network that refuses the client in spite of this entry, which does not say so itself. */
  readonly shut: Shut | undefined
}

/** A client that is blocked, banned other than in a dry run, or in a blocked network. */
export interface Shut {
  readonly by: 'block' | 'ban' | 'network'
  /** When it ends, ms since the epoch. */
  readonly until: number
}

/** The result of one reading of all keys. */
export interface Ranking {
  /** When it ended, ms since the epoch on the store's clock. */
  readonly at: number
  /** How long it took, ms. */
  readonly tookMs: number
  readonly keys: number
  /** Keys that have nothing left; blocked and banned ones are not among them. */
  readonly exhausted: number
  /** Keys with 80 % of their limit in use, or more, that still have something left. */
  readonly near: number
  readonly blocked: number
  readonly banned: number
  /** How many networks are blocked, and those of them that are blocked for the longest time. */
  readonly networkCount: number
  readonly networks: readonly BlockedNetwork[]
  /** False: it covers only the keys that have been read so far. */
  readonly isComplete: boolean
  readonly looked: number
  readonly unreadable: Unreadable
  /** The first ones in order. */
  readonly top: readonly RankedRecord[]
}

const NEAR = 0.8
/** The most blocked networks that are shown. */
const MAX_NETWORKS = 100
/** The most clients of which is remembered that they are blocked or banned. */
const MAX_SHUT = 10_000
/** The time between two unfinished rankings, ms. */
const SHOW_EVERY_MS = 1000

/** Reads a store again and again. It keeps the first `size` entries, however many there are. */
export class Ranker {
  readonly #store: InspectableStore
  readonly #options: InspectOptions
  readonly #size: number
  /** The units of the top entries at the last ranking, by their ids. */
  #last = new Map<string, { readonly used: number; readonly at: number }>()

  constructor(store: InspectableStore, options: InspectOptions, size: number) {
    this.#store = store
    this.#options = options
    this.#size = size
  }

  /**
   * @param signal ends it early: undefined then
   * @param show called with the ranking so far, once a second
   * @param note called with each entry
   */
  async rank(
    order: Order,
    signal: AbortSignal,
    show: (ranking: Ranking) => void = () => {},
    note: (entry: StoreEntry) => void = () => {},
  ): Promise<Ranking | undefined> {
    const began = performance.now()
    const heap = new Heap<RankedRecord>((one, other) => compare(order, one, other))
    // A scan may show a key twice.
    const kept = new Set<string>()
    const shut = new Map<string, Shut>()
    const counts = { keys: 0, exhausted: 0, near: 0, blocked: 0, banned: 0 }
    const { prefix = 'sluice' } = this.#options
    const networks = await blockedNetworks(this.#store, prefix)
    const networkEndOf = endsByKey(networks)
    const shutBy = (record: RankedRecord): Shut | undefined => {
      const known = shut.get(clientOf(record))
      if (known !== undefined || isShut(record)) return isShut(record) ? undefined : known
      const until = networkEndOf(record.key)
      return until > record.at ? { by: 'network', until } : undefined
    }
    const soFar = (isComplete: boolean): Ranking => ({
      ...counts,
      networkCount: networks.length,
      networks: networks.slice(0, MAX_NETWORKS),
      isComplete,
      looked: reading.looked,
      unreadable: reading.unreadable,
      at: storeTime(this.#store, prefix),
      tookMs: performance.now() - began,
      top: heap
        .toArray()
        .sort((one, other) => compare(order, other, one))
        .map((record) => ({ ...record, shut: shutBy(record) })),
    })
    let next = began + SHOW_EVERY_MS
    const reading = new Reading(() => {
      if (performance.now() < next) return
      next = performance.now() + SHOW_EVERY_MS
      show(soFar(false))
    })
    const { onProgress } = reading
    for await (const entry of this.#store.inspect({ ...this.#options, onProgress })) {
      if (signal.aborted) return undefined
      note(entry)
      const rate = this.#rateOf(entry)
      const record: RankedRecord = Object.assign(toRecord(entry), { rate, shut: undefined })
      // Most of many keys are below those that are kept: they need no id.
      const isBelow = heap.length === this.#size && compare(order, record, heap.peek()) < 0
      const id = isBelow ? undefined : idOf(record)
      if (id !== undefined && kept.has(id)) continue
      count(counts, record)
      if (isShut(record) && shut.size < MAX_SHUT) shut.set(clientOf(record), shutOf(record))
      if (id === undefined) continue
      heap.push(record)
      kept.add(id)
      if (heap.length > this.#size) kept.delete(idOf(heap.pop() as RankedRecord))
    }
    const ranking = soFar(true)
    this.#remember(ranking.top)
    return ranking
  }

  /**
   * The units per second since the last ranking. A window may have forgotten some of them: the rate is never
   * negative.
   */
  #rateOf({ prefix, key, keyspace, used, at }: StoreEntry): number | undefined {
    if (this.#last.size === 0) return undefined
    const last = this.#last.get(idOf({ prefix, key, keyspace: keyspace.name }))
    if (last === undefined || used === undefined || at <= last.at) return undefined
    return Math.max(0, ((used - last.used) * 1000) / (at - last.at))
  }

  #remember(top: readonly RankedRecord[]): void {
    this.#last = new Map(
      top.flatMap((record) => {
        const { used, at } = record
        return used === undefined ? [] : [[idOf(record), { used, at }] as const]
      }),
    )
  }
}

function count(
  counts: { [name in 'keys' | 'exhausted' | 'near' | 'blocked' | 'banned']: number },
  { standing, share }: EntryRecord,
): void {
  counts.keys += 1
  if (standing === 'blocked' || standing === 'banned' || standing === 'exhausted')
    counts[standing] += 1
  else if (share !== undefined && share >= NEAR) counts.near += 1
}

/** The client of an entry: its routes with limits of their own share its ban. */
function clientOf({ prefix, key }: EntryRecord): string {
  return `${prefix.replace(/\.[0-9a-f]{8}$/, '')}\n${key}`
}

/** Whether the entry says that its client is refused. */
function isShut({ standing, dryRun }: EntryRecord): boolean {
  return standing === 'blocked' || (standing === 'banned' && !dryRun)
}

function shutOf({ at, standing, blockedMs, bannedMs }: EntryRecord): Shut {
  const isBlocked = standing === 'blocked'
  return {
    by: isBlocked ? 'block' : 'ban',
    until: at + (isBlocked ? blockedMs : bannedMs),
  }
}

/** What tells records apart. */
const NAMES = ['prefix', 'key', 'keyspace'] as const

/** The order of two records: negative if the first one is farther down. */
function compare(order: Order, one: RankedRecord, other: RankedRecord | undefined): number {
  if (other === undefined) return 1
  // A client that is refused is farther than any limit.
  const shut = order === 'share' ? Number(isShut(one)) - Number(isShut(other)) : 0
  if (shut !== 0) return shut
  const orders: readonly Order[] = [order, 'share', 'used']
  for (const each of orders) {
    const difference = (one[each] ?? -1) - (other[each] ?? -1)
    if (difference !== 0) return difference
  }
  // Always the same order, so that a table stands still.
  const name = NAMES.find((each) => one[each] !== other[each])
  if (name === undefined) return 0
  return one[name] < other[name] ? 1 : -1
}
