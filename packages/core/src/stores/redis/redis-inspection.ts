import type { KeyState } from '../../algorithms/algorithm.ts'
import { HELD_SUFFIX } from '../../algorithms/held/held.ts'
import { SluiceError } from '../../errors/sluice-error.ts'
import { shardLength } from '../../key/notation.ts'
import { madeOnce } from '../../made-once.ts'
import type { Wanted } from '../inspection/inspect-options.ts'
import { type FoundKey, toEntry } from '../inspection/inspected-keyspace.ts'
import { Inspection, statesOf } from '../inspection/inspection.ts'
import { type KeptKeyspaces, SHARDED } from '../inspection/kept-keyspaces.ts'
import { ownKeyspace, policyName } from '../inspection/keyspace-name.ts'
import type { KeptKeyspace } from '../inspection/keyspace-text.ts'
import { Pace } from '../inspection/pace.ts'
import { isTooMuch, workOf } from '../rules/work.ts'
import type { StoreEntry } from '../store.ts'
import { type RedisConnection, Script } from './connection.ts'
import { keyName, subject } from './keys.ts'
import { LedgerScripts } from './ledger-scripts.ts'
import type { Scan } from './masters.ts'
import { readReply } from './reply.ts'

/** Keys that a step of SCAN looks at, and that one script reads, at most: each takes Redis a fraction of a ms. */
const SCANNED = 500
const READ = 100

/** Shows the prefix that the client adds to keys. */
const echo = new Script('return KEYS[1]')

/** Which keys there are: a 1 for each that is. */
const exist = new Script(`local found = {}
for i, key in ipairs(KEYS) do found[i] = redis.pcall('GETRANGE', key, '0', '0') == '' and '0' or '1' end
return table.concat(found)`)

/** A key, and its name in Redis as the client takes it. */
type NamedKey = FoundKey & { readonly name: string }

/**
 * Reads one server after the other, by SCAN, and the states by the script that `peek` runs. It pauses
 * after each step for as long as that took: so Redis spends no more than half of its time on it.
 */
export class RedisInspection {
  readonly #connection: RedisConnection
  readonly #scans: () => Promise<readonly Scan[]>
  readonly #inspection: Inspection
  readonly #kept: KeptKeyspaces
  readonly #scripts = new Map<string, LedgerScripts>()

  /** @param scans gives what scans each server */
  constructor(
    connection: RedisConnection,
    scans: () => Promise<readonly Scan[]>,
    wanted: Wanted,
    kept: KeptKeyspaces,
  ) {
    this.#kept = kept
    this.#connection = connection
    this.#scans = scans
    this.#inspection = new Inspection(wanted)
  }

  async *entries(): AsyncGenerator<StoreEntry, void, undefined> {
    const { fail } = this.#connection
    await this.#kept.settled()
    const { prefix, key } = this.#inspection
    const kept = await this.#kept.read(prefix).catch(fail)
    const wanted = this.#inspection.learn(kept)
    // The names of a client's keys are known, but for those in shards.
    const hasShards = kept.some(({ name }) => name === SHARDED)
    if (key !== undefined && kept.length > 0 && (shardLength(key) > 0 || !hasShards)) {
      yield* this.#ofClient(key, wanted)
      return
    }
    const keyPrefix = await this.#keyPrefix()
    const pattern = this.#pattern(keyPrefix)
    for (const scan of await this.#scans().catch(fail)) {
      let cursor = '0'
      do {
        const pace = new Pace()
        const [next, names] = await scan(cursor, pattern, SCANNED).catch(fail)
        pace.pause()
        cursor = next
        const unreadable: string[] = []
        const found = names.flatMap((name) => this.#parse(name, keyPrefix, unreadable) ?? [])
        const ofRecords = names.map((name) => statesOf(name.slice(keyPrefix.length), wanted))
        pace.resume()
        const others = await Promise.all(ofRecords.map((each) => this.#absent(each)))
        const entries = await this.#entriesOf([...found, ...others.flat()], unreadable)
        pace.pause()
        for (const entry of entries) {
          this.#inspection.note(entry)
          yield entry
        }
        this.#inspection.progress(SCANNED, unreadable)
        if (cursor !== '0') await pace.rest()
      } while (cursor !== '0')
    }
  }

  async *#ofClient(
    key: string,
    kept: readonly KeptKeyspace[],
  ): AsyncGenerator<StoreEntry, void, undefined> {
    const unreadable: string[] = []
    const names = kept.map(({ prefix, name }) => keyName(prefix, key, name))
    const owns = kept.map(({ prefix, name }) => keyName(prefix, key, ownKeyspace(name)))
    const there = await this.#exist([...names, ...owns])
    const found = names
      .filter((_, i) => there[i] || there[names.length + i])
      .flatMap((name) => this.#parse(name, '', unreadable) ?? [])
    yield* await this.#entriesOf(found, unreadable)
    this.#inspection.progress(names.length, unreadable)
  }

  /** Which of these keys of one client there are. */
  async #exist(names: readonly string[]): Promise<boolean[]> {
    if (names.length === 0) return []
    const call = { script: exist, args: [] }
    const found = await this.#connection.run(call, [...names], String)
    return names.map((_, i) => found[i] === '1')
  }

  /** Keeps those of a client's states that there are not: what it has of its own is all that there is. */
  async #absent(names: readonly string[]): Promise<NamedKey[]> {
    const there = await this.#exist(names)
    return names.filter((_, i) => !there[i]).flatMap((name) => this.#parse(name, '', []) ?? [])
  }

  async #entriesOf(found: readonly NamedKey[], unreadable: string[]): Promise<StoreEntry[]> {
    const { isCluster } = this.#connection
    const calls = byScript(found)
      .flatMap(parts)
      .flatMap((part) => (isCluster ? byClient(part) : [part]))
    return (await Promise.all(calls.map((keys) => this.#read(keys, unreadable)))).flat()
  }

  /** The prefix that the client adds to the keys of scripts, but not to those that SCAN returns. */
  async #keyPrefix(): Promise<string> {
    // One of the keys that the user is permitted.
    const key = `${this.#inspection.prefix}:{-}`
    const name = await this.#connection.run({ script: echo, args: [] }, [key], String)
    return name.slice(0, -key.length)
  }

  #pattern(keyPrefix: string): string {
    const { prefix, key } = this.#inspection
    // Redis takes long to compare a name with several stars.
    const rest = key === undefined ? '*' : `*{${escaped(subject(key))}}:*`
    return `${escaped(keyPrefix + prefix)}[.:]${rest}`
  }

  /** Undefined if it is no key of a limiter, or not one that is wanted. @param unreadable takes its name if it can't be read */
  #parse(full: string, keyPrefix: string, unreadable: string[]): NamedKey | undefined {
    if (!full.startsWith(keyPrefix) || full.endsWith(HELD_SUFFIX)) return undefined
    const name = full.slice(keyPrefix.length)
    const found = this.#inspection.find(name)
    if (found === null) unreadable.push(name)
    return found ? { ...found, name } : undefined
  }

  /** A state at which the script fails spoils its whole call: then each is read alone. */
  async #read(keys: readonly NamedKey[], unreadable: string[]): Promise<StoreEntry[]> {
    try {
      return await this.#readTogether(keys, unreadable)
    } catch (error) {
      if (!isOfScript(error)) throw error
      if (keys.length > 1) {
        return (await Promise.all(keys.map((key) => this.#read([key], unreadable)))).flat()
      }
      unreadable.push((keys[0] as NamedKey).name)
      return []
    }
  }

  /**
   * Reads the states of some keys in one call.
   * @param keys all of the same algorithm, and names of policies of the same length
   */
  async #readTogether(keys: readonly NamedKey[], unreadable: string[]): Promise<StoreEntry[]> {
    const charges = keys.map(({ key, keyspace }) => [{ key, limit: keyspace.limit, cost: 0 }])
    const { keyspace } = keys[0] as NamedKey
    const { algorithm } = keyspace.limit
    const id = scriptId(keys[0] as NamedKey)
    const scripts =
      this.#scripts.get(id) ?? (await LedgerScripts.load([{ algorithm, name: keyspace.name }]))
    this.#scripts.set(id, scripts)
    const call = scripts.peek(charges, this.#connection.time())
    const names = keys.map(({ name }) => name)
    const read = (reply: unknown) => readReply(reply, charges)
    const results = await this.#connection.runForNumbers(call, names, read)
    return results.flatMap((result, i) => {
      const key = keys[i] as NamedKey
      if (!(result instanceof Error)) return toEntry(key, result.outcomes[0] as KeyState, result.at)
      // A key that holds no state belongs to no limiter.
      unreadable.push(key.name)
      return []
    })
  }
}

/** Whether a script failed at what it read, as each version of Redis and Valkey says it. */
function isOfScript(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof SluiceError) return false
  return /user_script:|Error running script/.test(error.message)
}

function escaped(text: string): string {
  return text.replace(/[\\*?[\]^-]/g, '\\$&')
}

function parts(keys: readonly NamedKey[]): NamedKey[][] {
  const all: NamedKey[][] = []
  let work = 0
  for (const key of keys) {
    const own = workOf([key.keyspace])
    const last = all.at(-1)
    work += own
    if (last !== undefined && last.length < READ && !isTooMuch(work)) last.push(key)
    else {
      all.push([key])
      work = own
    }
  }
  return all
}

/**
 * The keys in groups of one client: in a cluster the keys of one call must share a hash slot, as a client's do.
 */
function byClient(keys: readonly NamedKey[]): NamedKey[][] {
  return groupsOf(keys, ({ prefix, key }) => `${prefix} ${key}`)
}

/** A script has one step for each policy, and knows how long its name and that of its keyspace are. */
function byScript(keys: readonly NamedKey[]): NamedKey[][] {
  return groupsOf(keys, scriptId)
}

function scriptId({ keyspace }: NamedKey): string {
  const [kind] = keyspace.name.split(/[:/]/)
  const isCalendar = keyspace.limit.params.calendar !== undefined
  return `${kind} ${isCalendar} ${keyspace.name.length} ${policyName(keyspace.name).length}`
}

function groupsOf(keys: readonly NamedKey[], of: (key: NamedKey) => unknown): NamedKey[][] {
  const groups = new Map<unknown, NamedKey[]>()
  for (const each of keys) madeOnce(groups, of(each), () => []).push(each)
  return [...groups.values()]
}
