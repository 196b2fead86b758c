import type { StoreEntry } from '../store.ts'
import type { Inspection } from './inspect-options.ts'
import { type InspectedKeyspace, inspectedKeyspace } from './inspected-keyspace.ts'
import type { FoundKey } from './to-entry.ts'

/** Keyspaces that are known at a time: more than any application has. */
const MAX_KEYSPACES = 1000

/** Reads the names under which remote stores keep keys: `prefix:{client}:keyspace`. */
export class KeyNames {
  private readonly inspection: Inspection
  /** Keyspaces of which a key has come, with their prefixes, if one is enough. */
  private readonly seen = new Set<string>()
  private readonly keyspaces = new Map<string, InspectedKeyspace | undefined>()

  constructor(inspection: Inspection) {
    this.inspection = inspection
  }

  /** Undefined if it is no key of these limiters, or not one that is wanted; null if it can't be read. */
  find(name: string): FoundKey | undefined | null {
    const parts = /^([\w.:-]+):\{([!-z|~]{1,64})\}:(.+)$/.exec(name)
    const { inspection } = this
    if (parts === null) return name.startsWith(`${inspection.prefix}:`) ? null : undefined
    const [, prefix, id, space] = parts as unknown as [string, string, string, string]
    if (!inspection.isIn(prefix)) return undefined
    const keyspace = this.keyspace(space)
    if (keyspace === undefined) return null
    if (!inspection.wants(keyspace) || this.seen.has(`${prefix}\n${space}`)) return undefined
    const isDigest = inspection.key === undefined && id.startsWith('#')
    return { prefix, keyspace, key: inspection.key ?? id, isDigest }
  }

  /** Notes that a key could be read. */
  note({ prefix, keyspace }: Pick<StoreEntry, 'prefix' | 'keyspace'>): void {
    if (this.inspection.onePerKeyspace) this.seen.add(`${prefix}\n${keyspace.name}`)
  }

  private keyspace(name: string): InspectedKeyspace | undefined {
    if (this.keyspaces.has(name)) return this.keyspaces.get(name)
    if (this.keyspaces.size === MAX_KEYSPACES) this.keyspaces.clear()
    const keyspace = inspectedKeyspace(name)
    this.keyspaces.set(name, keyspace)
    return keyspace
  }
}
