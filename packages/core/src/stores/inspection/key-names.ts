import type { Inspection } from './inspect-options.ts'
import { type InspectedKeyspace, inspectedKeyspace } from './inspected-keyspace.ts'
import type { FoundKey } from './to-entry.ts'

/** Keyspaces that are known at a time: more than any application has. */
const MAX_KEYSPACES = 1000

/** Reads the names under which remote stores keep keys: `prefix:{client}:keyspace`. */
export class KeyNames {
  private readonly inspection: Inspection
  private readonly keyspaces = new Map<string, InspectedKeyspace | undefined>()

  constructor(inspection: Inspection) {
    this.inspection = inspection
  }

  /** Undefined if it is no key of a limiter, or not one that is wanted. */
  find(name: string): FoundKey | undefined {
    const [, prefix = '', id = '', space = ''] =
      /^([\w.:-]+):\{([!-z|~]{1,64})\}:(.+)$/.exec(name) ?? []
    const { inspection } = this
    const keyspace = inspection.isIn(prefix) ? this.keyspace(space) : undefined
    if (keyspace === undefined || !inspection.wants(keyspace)) return undefined
    const isDigest = inspection.key === undefined && id.startsWith('#')
    return { prefix, keyspace, key: inspection.key ?? id, isDigest }
  }

  private keyspace(name: string): InspectedKeyspace | undefined {
    if (this.keyspaces.has(name)) return this.keyspaces.get(name)
    if (this.keyspaces.size === MAX_KEYSPACES) this.keyspaces.clear()
    const keyspace = inspectedKeyspace(name)
    this.keyspaces.set(name, keyspace)
    return keyspace
  }
}
