import { shardLength } from '../../key/notation.ts'
import { subject } from '../redis/keys.ts'
import type { InspectOptions, StoreEntry } from '../store.ts'
import type { Wanted } from './inspect-options.ts'
import { type FoundKey, type InspectedKeyspace, inspectedKeyspace } from './inspected-keyspace.ts'
import { OWN_PREFIX, ownKeyspace } from './keyspace-name.ts'
import type { KeptKeyspace } from './keyspace-text.ts'
import { isScope } from './scope.ts'

/** Keyspaces that are known at a time: more than any application has. */
const MAX_KEYSPACES = 1000

/**
 * Takes the name of a key apart under which remote stores keep it, `prefix:{client}:keyspace` or
 * `prefix:{shard}{client}:keyspace`.
 *
 * @returns `client`: what stands before the keyspace; undefined: it is none of a limiter
 */
export function partsOf(name: string) {
  const parts = /^(([\w.:-]+):(\{[!-z|~]{1,64}\})?\{([!-z|~]{1,64})\}:)(.+)$/.exec(name)
  if (parts === null) return undefined
  const [, client = '', prefix = '', shard = '', id = '', space = ''] = parts
  return { client, prefix, shard, id, space }
}

/** The names of the states that a record is beside, if it is one. */
export function statesOf(record: string, kept: readonly KeptKeyspace[]): string[] {
  const { client = '', prefix, space = '' } = partsOf(record) ?? {}
  if (!space.startsWith(OWN_PREFIX)) return []
  return kept
    .filter((each) => each.prefix === prefix && ownKeyspace(each.name) === space)
    .map(({ name }) => client + name)
}

/** One reading of a store: which keys are wanted, and how far it is. */
export class Inspection {
  readonly prefix: string
  readonly key: string | undefined
  readonly onePerKeyspace: boolean
  /** The wanted key as remote stores write it, in braces. */
  readonly #client: string | undefined
  readonly #policy: string | undefined
  readonly #onProgress: InspectOptions['onProgress']
  #looked = 0
  /** Keyspaces of which a key has come, with their prefixes, if one is enough. */
  readonly #seen = new Set<string>()
  readonly #keyspaces = new Map<string, InspectedKeyspace | undefined>()

  constructor({ prefix, policy, key, onePerKeyspace, onProgress }: Wanted) {
    this.prefix = prefix
    this.#policy = policy
    this.key = key
    this.#client = key === undefined ? undefined : `{${subject(key)}}`
    this.onePerKeyspace = onePerKeyspace
    this.#onProgress = onProgress
  }

  /** Reads the name of a key, as `keyspaceOf` does. */
  find(name: string): FoundKey | undefined | null {
    const parts = partsOf(name)
    if (parts === undefined) return name.startsWith(`${this.prefix}:`) ? null : undefined
    const { prefix, shard, id, space } = parts
    // A document, and what clients have of their own.
    if (id === '#' || space.startsWith(OWN_PREFIX)) return undefined
    const client = this.#client ?? `{${id}}`
    if (client !== `{${id}}` && client !== `${shard}{${id}}`) return undefined
    const keyspace = this.keyspaceOf(prefix, space)
    if (!keyspace) return keyspace
    if (this.key !== undefined && shardLength(this.key) > 0)
      return { prefix, keyspace, key: this.key, isDigest: false }
    const isDigest = shard.startsWith('{#') || (this.key === undefined && id[0] === '#')
    return { prefix, keyspace, key: shard + (this.key ?? id), isDigest }
  }

  /** Undefined if it is none of these limiters, or not wanted; null if its name can't be read. */
  keyspaceOf(prefix: string, name: string): InspectedKeyspace | undefined | null {
    const isOurs = prefix.startsWith(this.prefix) && isScope(prefix.slice(this.prefix.length))
    if (!isOurs) return undefined
    const keyspace = this.#read(prefix, name)
    if (keyspace === undefined) return null
    const isWanted = this.#policy === undefined || this.#policy === keyspace.policy
    return isWanted && !this.#seen.has(`${prefix}\n${name}`) ? keyspace : undefined
  }

  /** Learns the limits of these keyspaces. @returns those that are wanted */
  learn(kept: readonly KeptKeyspace[]): KeptKeyspace[] {
    return kept.filter(({ prefix, name, params }) => {
      const keyspace = this.keyspaceOf(prefix, name)
      keyspace?.learn(params)
      return keyspace != null
    })
  }

  /** Notes that a key could be read. */
  note({ prefix, keyspace }: Pick<StoreEntry, 'prefix' | 'keyspace'>): void {
    if (this.onePerKeyspace) this.#seen.add(`${prefix}\n${keyspace.name}`)
  }

  /** Says how far the reading is: see `InspectProgress`. @param looked keys of this step */
  progress(looked: number, unreadable: readonly string[]): void {
    this.#looked += looked
    this.#onProgress?.({ looked: this.#looked, unreadable })
  }

  #read(prefix: string, name: string): InspectedKeyspace | undefined {
    const id = `${prefix}\n${name}`
    if (this.#keyspaces.has(id)) return this.#keyspaces.get(id)
    if (this.#keyspaces.size === MAX_KEYSPACES) this.#keyspaces.clear()
    const keyspace = inspectedKeyspace(name)
    this.#keyspaces.set(id, keyspace)
    return keyspace
  }
}
