import type { StoreEntry } from '@sluice/core'
import {
  entryOf,
  Inspection,
  type KeptKeyspace,
  type KeptKeyspaces,
  Pace,
  partsOf,
  SHARDED,
  shardLength,
  statesOf,
  subject,
  type Wanted,
} from '@sluice/core/internal-stores'
import { decodeOwn, decodeState, ownKeyspace } from '@sluice/core/store'
import type { States } from './growing-transactions.ts'
import { stateIn } from './state-end.ts'
import type { ListedKey, ListingBackend } from './transactional-backend.ts'

/** Keys that are read in one step. */
const STEP = 500

/**
 * Reads the keys of a backend in their order, some at a time. Those of one client are a small part of
 * each prefix, which is read alone, unless they may be in shards.
 */
export async function* inspectBackend(
  backend: ListingBackend,
  wanted: Wanted,
  kept: KeptKeyspaces,
): AsyncGenerator<StoreEntry, void, undefined> {
  await kept.settled()
  const inspection = new Inspection(wanted)
  const { prefix, key } = inspection
  const known = await kept.read(prefix)
  const spaces = inspection.learn(known)
  // Those of routes follow a dot: the last prefix in the order is the namespace itself.
  let after = `${prefix}.`
  const before = `${prefix}:|`
  const hasShards = known.some(({ name }) => name === SHARDED)
  if (key === undefined || (hasShards && shardLength(key) === 0)) {
    yield* entriesBetween(after, before, backend, inspection, spaces)
    return
  }
  const id = subject(key)
  // Finds each prefix by its first key, and skips the others.
  for (;;) {
    const { keys } = await backend.list({ after, before, count: 1 })
    if (keys[0] === undefined) return
    const [, found] = /^([^{]*):\{/.exec(keys[0].key) ?? []
    if (found !== undefined) {
      const [from, to] = [`${found}:{${id}}:`, `${found}:{${id}};`]
      yield* entriesBetween(from, to, backend, inspection, spaces)
    }
    after = found === undefined ? keys[0].key : `${found}:|`
  }
}

async function* entriesBetween(
  from: string,
  before: string,
  backend: ListingBackend,
  inspection: Inspection,
  kept: readonly KeptKeyspace[],
): AsyncGenerator<StoreEntry, void, undefined> {
  let after = from
  /** Keys of the last client, of which more may come with the next step. */
  let rest: ListedKey[] = []
  for (;;) {
    const pace = new Pace()
    const { keys, now } = await backend.list({ after, before, count: STEP })
    const unreadable: string[] = []
    pace.pause()
    const isLast = keys.length < STEP
    const clients = byClient([...rest, ...keys])
    rest = isLast ? [] : (clients.pop() ?? [])
    for (const client of clients) {
      const bytes = new Map(client.map(({ key, state }) => [key, state]))
      // A client may have only a limit, top-ups or a block of its own.
      const names = new Set(client.flatMap(({ key }) => [key, ...statesOf(key, kept)]))
      for (const name of names) {
        const entry = read(name, bytes, now, inspection)
        if (entry === null) unreadable.push(name)
        else if (entry !== undefined) {
          inspection.note(entry)
          yield entry
        }
      }
    }
    inspection.progress(keys.length, unreadable)
    if (isLast) return
    after = (keys.at(-1) as ListedKey).key
    await pace.rest()
  }
}

/** Keys in groups of one client, whose keys follow each other. */
function byClient(keys: readonly ListedKey[]): ListedKey[][] {
  const groups: ListedKey[][] = []
  let last: string | undefined
  for (const each of keys) {
    const { client = each.key } = partsOf(each.key) ?? {}
    if (client === last) groups.at(-1)?.push(each)
    else groups.push([each])
    last = client
  }
  return groups
}

/**
 * Reads a state.
 *
 * @param bytes the bytes under the client's keys
 * @returns undefined if it is not wanted; null if its name or its state can't be read
 */
function read(
  name: string,
  bytes: States,
  now: number,
  inspection: Inspection,
): StoreEntry | undefined | null {
  const found = inspection.find(name)
  if (!found) return found
  try {
    const state = decodeState(stateIn(bytes.get(name)))
    const { client = '', space = '' } = partsOf(name) ?? {}
    state.terms = decodeOwn(bytes.get(client + ownKeyspace(space)))
    return entryOf(found, state, now)
  } catch {
    return null
  }
}
