import { memoryStore } from '../memory/memory-store.ts'
import type { Keyspaces, Ledger, Store } from '../store.ts'

/** The most keys that this process counts by itself, over all limiters on one store. */
const MAX_KEYS = 100_000

/** What this process counts in addition to a remote store. Nothing is kept before it is needed. */
export class LocalCounts {
  private readonly clock: (() => number) | undefined
  private readonly ledgers = new Map<string, Ledger<'sync'>>()
  private store: Store<'sync'> | undefined

  /** @param clock see `Store.clock` */
  constructor(clock: (() => number) | undefined) {
    this.clock = clock
  }

  /** A function that returns the same ledger at each call; after `clear`, an empty one. */
  opener(keyspaces: Keyspaces, prefix: string): () => Ledger<'sync'> {
    const { policies, ban } = keyspaces
    const names = policies.concat(ban ?? []).map((each) => `${each.prefix ?? ''}:${each.name}`)
    // Limiters that share their bans may differ in how long these last.
    const id = [prefix, ...names, ban?.limit.constants(0)].join('\n')
    return () => this.ledgers.get(id) ?? this.open(id, keyspaces, prefix)
  }

  clear(): void {
    this.store?.close()
    this.store = undefined
    this.ledgers.clear()
  }

  private open(id: string, keyspaces: Keyspaces, prefix: string): Ledger<'sync'> {
    this.store ??= memoryStore({ maxKeys: MAX_KEYS, clock: this.clock })
    const ledger = this.store.open(keyspaces, prefix)
    this.ledgers.set(id, ledger)
    return ledger
  }
}
