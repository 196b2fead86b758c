import { linesOf, versionOf, writeDocument } from '../documents/document.ts'
import { keyName } from '../redis/keys.ts'
import type { Change, Documents, Keyspace } from '../store.ts'
import { ownKeyspace, parseBan, parseKeyspace } from './keyspace-name.ts'
import { formatParams, type KeptKeyspace, parseLive } from './keyspace-text.ts'
import { basePrefix } from './scope.ts'

/** The name of the document that has them. */
export const KEYSPACES = 'keyspaces'
/**
 * How long a keyspace is kept at least, ms, and how often a process looks whether those that it uses are there: so
 * they are there soon if the store has lost them, or has the limits of a version that has ended.
 */
const KEPT_MS = 86_400_000
const RENEWED_MS = 600_000
/** When they are written again if the store did not take them, ms. */
const RETRY_MS = 60_000
/** How often a change is tried if other processes change the document too. */
const MAX_ATTEMPTS = 20
/** Beyond, those that end first are dropped. */
export const MAX_KEYSPACES = 1000

/** `isFound`: see `Keyspace`. */
type UsedKeyspace = Omit<KeptKeyspace, 'until'> & Pick<Keyspace, 'isFound'>

/** The params of limits that differ by request, or that nobody has written. */
const UNKNOWN = '-'

/** The name of the document where a key has a shard: keys of one client may have different ones. */
export const SHARDED = '{}'

/** Keeps the keyspaces and their limits in a store, beside the states: the names of keys do not tell them. */
export class KeptKeyspaces {
  readonly #documents: Documents<'async'>
  /**
   * Ends with all that is being written, one after the other, so that the limits of the ledger that was opened last are
   * kept. Undefined: nothing is.
   */
  #writing: Promise<void> | undefined

  constructor(documents: Documents<'async'>) {
    this.#documents = documents
  }

  /** Notes the keyspaces of a ledger. */
  of(keyspaces: readonly Keyspace[], prefix: string): LedgerKeyspaces {
    return new LedgerKeyspaces(this, keyspaces, prefix)
  }

  /**
   * Writes keyspaces after those that are being written.
   * @returns until when all of them are kept at least, ms on the store's clock; 0: not all are
   */
  write(prefix: string, used: readonly UsedKeyspace[], ttlMs: number): Promise<number> {
    const next = () => this.#write(basePrefix(prefix), used, ttlMs, 1)
    // The first one shares its call with the decision.
    const done = this.#writing?.then(next) ?? next()
    const end = () => {
      if (this.#writing === ended) this.#writing = undefined
    }
    const ended = done.then(end, end)
    this.#writing = ended
    return done
  }

  /** Reads the keyspaces of all limiters under a prefix, and of their routes. */
  async read(prefix: string): Promise<KeptKeyspace[]> {
    const { text = '', at } = await this.#documents.read(basePrefix(prefix), KEYSPACES, '')
    const kept = keptAt(text, at)
    if (!kept.some(({ params }) => parseLive(params))) return kept
    const { withSettings } = await import('./live-settings.ts')
    return withSettings(kept, this.#documents, basePrefix(prefix), at)
  }

  /** Resolves when all that is being written is there, or has failed. */
  async settled(): Promise<void> {
    await this.#writing
  }

  async #write(
    prefix: string,
    used: readonly UsedKeyspace[],
    ttlMs: number,
    attempt: number,
  ): Promise<number> {
    const { text = '', at } = await this.#documents.read(prefix, KEYSPACES, '')
    const kept = new Map(keptAt(text, at).map((each) => [idOf(each), each]))
    const isKept = (each: (typeof used)[number]) => {
      const known = kept.get(idOf(each))
      return known?.params === paramsOf(each, known) && known.until > at + ttlMs / 2
    }
    const keptUntil = () => {
      if (kept.size > MAX_KEYSPACES) return 0
      return Math.min(...used.map((each) => kept.get(idOf(each))?.until ?? 0))
    }
    if (used.every(isKept)) return keptUntil()
    for (const each of used) {
      const known = kept.get(idOf(each))
      const until = Math.max(known?.until ?? 0, at + ttlMs)
      kept.set(idOf(each), { ...each, params: paramsOf(each, known), until })
    }
    const last = [...kept.values()].sort((one, other) => other.until - one.until)
    const lines = last.slice(0, MAX_KEYSPACES).map((each) => {
      return `${each.until} ${each.prefix} ${each.params} ${each.name}`
    })
    const until = last[0]?.until as number
    const isWritten = await this.#documents.replace(
      prefix,
      KEYSPACES,
      versionOf(text),
      writeDocument(lines),
      until - at,
    )
    if (isWritten) return keptUntil()
    return attempt < MAX_ATTEMPTS ? this.#write(prefix, used, ttlMs, attempt + 1) : 0
  }
}

/** Keeps the keyspaces of one ledger. */
export class LedgerKeyspaces {
  /**
   * Until when other versions of the application find all of them, ms on the store's clock: they mark the states of a
   * client that they give something of its own. A state that may live longer is marked from the start.
   */
  keptUntil: number
  readonly #kept: KeptKeyspaces
  readonly #keyspaces: readonly Keyspace[]
  readonly #prefix: string
  readonly #used: UsedKeyspace[]
  readonly #ttlMs: number
  /** When it looks again, by `performance.now()`. */
  #dueAt: number
  #isSharded = false

  constructor(kept: KeptKeyspaces, keyspaces: readonly Keyspace[], prefix: string) {
    const windows = keyspaces.map(({ params, name }) => {
      return params?.windowMs ?? parseKeyspace(name)?.windowMs ?? 0
    })
    this.#kept = kept
    this.#keyspaces = keyspaces
    this.#prefix = prefix
    this.#used = keyspaces
      .filter(({ name }) => (parseKeyspace(name) ?? parseBan(name)) !== undefined)
      .map(({ prefix: own = prefix, name, params, live, isFound }) => {
        const text = params === undefined || isFound ? UNKNOWN : formatParams(params)
        const all = live === undefined ? text : `${text};live=${live}`
        return { prefix: own, name, params: all, isFound }
      })
    // Half of it is longer than most states live: two windows.
    this.#ttlMs = Math.max(KEPT_MS, 4 * Math.max(...windows) + 2 * RENEWED_MS)
    this.#dueAt = this.#used.length === 0 ? Infinity : 0
    this.keptUntil = this.#dueAt
  }

  /**
   * The names of a client's states in other versions of the application, which have other windows or algorithms for the
   * policies that a change concerns.
   */
  async others(change: Extract<Change, { key: string }>): Promise<string[]> {
    if (this.#used.length === 0) return []
    const { key } = change
    const changed =
      'policy' in change ? [this.#keyspaces[change.policy] as Keyspace] : this.#keyspaces
    const known = new Set(this.#used.map(idOf))
    const policies = new Set(changed.map(({ name }) => ownKeyspace(name)))
    const prefixes = new Set(this.#used.map(({ prefix }) => prefix))
    return (await this.#kept.read(this.#prefix)).flatMap((each) => {
      const { prefix, name } = each
      const isOther = prefixes.has(prefix) && !known.has(idOf(each)) && name !== SHARDED
      const isOfPolicies = policies.has(ownKeyspace(parseBan(name)?.quota ?? name))
      return isOther && isOfPolicies ? keyName(prefix, key, name) : []
    })
  }

  /** Notes that there are keys with shards. */
  shard(): void {
    const [first] = this.#used
    if (this.#isSharded || first === undefined) return
    this.#isSharded = true
    this.#used.push({ prefix: first.prefix, name: SHARDED, params: UNKNOWN })
    this.#dueAt = 0
  }

  /** Keeps them in the background, if that is due. Call it once the store has answered. */
  keep(): void {
    const now = performance.now()
    if (now < this.#dueAt) return
    this.#dueAt = now + RENEWED_MS
    this.#kept.write(this.#prefix, this.#used, this.#ttlMs).then(
      (until) => {
        this.keptUntil = until
      },
      () => {
        this.#dueAt = now + RETRY_MS
      },
    )
  }
}

/** Reads a document at `now`, without the keyspaces that have ended. */
export function keptAt(text: string, now: number): KeptKeyspace[] {
  return linesOf(text).flatMap((line) => {
    const [, until, prefix, params, name] = /^(\d+) (\S+) (\S+) (.+)$/.exec(line) ?? []
    if (prefix === undefined || params === undefined || name === undefined) return []
    return Number(until) > now ? { until: Number(until), prefix, params, name } : []
  })
}

/** What is kept of a keyspace: who has found it knows less than who has written it. */
function paramsOf({ params, isFound }: UsedKeyspace, known: KeptKeyspace | undefined): string {
  return isFound && known !== undefined ? known.params : params
}

function idOf({ prefix, name }: Pick<KeptKeyspace, 'prefix' | 'name'>): string {
  return `${prefix} ${name}`
}
