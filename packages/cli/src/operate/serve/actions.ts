import type { InspectableStore } from '@sluice/core'
import { apply, type Change, placesFor, type Scope } from '../change.ts'
import { blockFor } from '../change-command.ts'
import { clientKey } from '../client-key.ts'
import { type EntryRecord, toRecord } from '../entry-record.ts'

/** A client, and how it stands. */
export interface ClientRecord {
  readonly key: string
  readonly entries: readonly EntryRecord[]
}

/** What the page can ask for and do. */
export class Actions {
  private readonly store: InspectableStore
  private readonly scope: Scope
  private readonly ipv6Prefix: string

  constructor(store: InspectableStore, scope: Scope, ipv6Prefix: string) {
    this.store = store
    this.scope = scope
    this.ipv6Prefix = ipv6Prefix
  }

  async inspect(text: string): Promise<ClientRecord> {
    const key = clientKey(text, this.ipv6Prefix)
    const entries = []
    for await (const entry of this.store.inspect({ ...this.scope, key }))
      entries.push(toRecord(entry))
    return { key, entries }
  }

  /** Frees a client. @returns its key, and the number of keyspaces in which it was changed */
  change(action: 'reset' | 'unblock', text: string): Promise<{ key: string; changed: number }> {
    return this.make({ action }, text)
  }

  /** @param duration such as `1h`, as it came */
  block(text: string, duration: unknown): Promise<{ key: string; changed: number }> {
    return this.make(blockFor(duration as string), text)
  }

  private async make(change: Change, text: string): Promise<{ key: string; changed: number }> {
    const key = clientKey(text, this.ipv6Prefix)
    const places = await placesFor(this.store, change, key, this.scope)
    await apply(this.store, change, key, places)
    return { key, changed: places.length }
  }
}
