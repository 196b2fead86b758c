import type { Inspection } from '../inspection/inspect-options.ts'
import { KeyNames } from '../inspection/key-names.ts'
import { Pace } from '../inspection/rest.ts'
import { type FoundKey, toEntry } from '../inspection/to-entry.ts'
import { subject } from '../redis/keys.ts'
import { decideOne } from '../rules/decide-all.ts'
import { decodeState } from '../rules/state-bytes.ts'
import type { StoreEntry } from '../store.ts'
import type { ListedKey, ListingBackend } from './transactional-backend.ts'

/** Keys that are read in one step. */
const STEP = 500

/**
 * Reads the keys of a backend in their order, some at a time. Those of one client are a small part of
 * each prefix, which is read alone.
 */
export class TransactionalInspection {
  private readonly backend: ListingBackend
  private readonly inspection: Inspection
  private readonly names: KeyNames

  constructor(backend: ListingBackend, inspection: Inspection) {
    this.backend = backend
    this.inspection = inspection
    this.names = new KeyNames(inspection)
  }

  async *entries(): AsyncGenerator<StoreEntry, void, undefined> {
    const { prefix, key } = this.inspection
    // Those of routes follow a dot: the last prefix in the order is the namespace itself.
    const all = { after: `${prefix}.`, before: `${prefix}:|` }
    if (key === undefined) yield* this.between(all.after, all.before)
    else yield* this.ofClient(subject(key), all.after, all.before)
  }

  /** Finds each prefix by its first key, and skips the others. */
  private async *ofClient(id: string, from: string, before: string): AsyncGenerator<StoreEntry> {
    let after = from
    for (;;) {
      const { keys } = await this.backend.list({ after, before, count: 1 })
      if (keys[0] === undefined) return
      const [, prefix] = /^([^{]*):\{/.exec(keys[0].key) ?? []
      if (prefix !== undefined) yield* this.between(`${prefix}:{${id}}:`, `${prefix}:{${id}};`)
      after = prefix === undefined ? keys[0].key : `${prefix}:|`
    }
  }

  private async *between(from: string, before: string): AsyncGenerator<StoreEntry> {
    let after = from
    for (;;) {
      const pace = new Pace()
      const { keys, now } = await this.backend.list({ after, before, count: STEP })
      const unreadable: string[] = []
      pace.pause()
      for (const each of keys) {
        const found = this.names.find(each.key)
        const entry = found && entryOf(found, each, now)
        if (entry === null) unreadable.push(each.key)
        else if (entry !== undefined) {
          this.names.note(entry)
          yield entry
        }
      }
      this.inspection.progress(keys.length, unreadable)
      if (keys.length < STEP) return
      after = (keys.at(-1) as ListedKey).key
      await pace.rest()
    }
  }
}

/** The entry of a key; null if it holds no state. */
function entryOf(found: FoundKey, { state: bytes }: ListedKey, now: number): StoreEntry | null {
  try {
    const state = decodeState(bytes)
    decideOne(state, found.keyspace, now, 0)
    return toEntry(found, state, now)
  } catch {
    return null
  }
}
