import type { Wanted } from '../inspection/inspect-options.ts'
import { entryOf } from '../inspection/inspected-keyspace.ts'
import { Inspection } from '../inspection/inspection.ts'
import type { KeptKeyspaces } from '../inspection/kept-keyspaces.ts'
import { Pace } from '../inspection/pace.ts'
import { subject } from '../redis/keys.ts'
import type { StoreEntry } from '../store.ts'
import { MissingKeys } from './growing-transactions.ts'
import { isPart, partRange } from './parts/parts.ts'
import { decodeWithParts } from './parts/transaction-states.ts'
import type { ListedKey, ListingBackend } from './transactional-backend.ts'

/** Keys that are read in one step. */
const STEP = 500

/**
 * Reads the keys of a backend in their order, some at a time. Those of one client are a small part of
 * each prefix, which is read alone.
 */
export async function* inspectBackend(
  backend: ListingBackend,
  wanted: Wanted,
  kept: KeptKeyspaces,
): AsyncGenerator<StoreEntry, void, undefined> {
  await kept.settled()
  const inspection = new Inspection(wanted)
  const { prefix, key } = inspection
  inspection.learn(await kept.read(prefix))
  // Those of routes follow a dot: the last prefix in the order is the namespace itself.
  let after = `${prefix}.`
  const before = `${prefix}:|`
  if (key === undefined) {
    yield* entriesBetween(after, before, backend, inspection)
    return
  }
  const id = subject(key)
  // Finds each prefix by its first key, and skips the others.
  for (;;) {
    const { keys } = await backend.list({ after, before, count: 1 })
    if (keys[0] === undefined) return
    const [, found] = /^([^{]*):\{/.exec(keys[0].key) ?? []
    if (found !== undefined) {
      yield* entriesBetween(`${found}:{${id}}:`, `${found}:{${id}};`, backend, inspection)
    }
    after = found === undefined ? keys[0].key : `${found}:|`
  }
}

async function* entriesBetween(
  from: string,
  before: string,
  backend: ListingBackend,
  inspection: Inspection,
): AsyncGenerator<StoreEntry, void, undefined> {
  let after = from
  for (;;) {
    const pace = new Pace()
    const { keys, now } = await backend.list({ after, before, count: STEP })
    const unreadable: string[] = []
    pace.pause()
    for (const each of keys) {
      const entry = await read(each, now, inspection, backend)
      if (entry === null) unreadable.push(each.key)
      else if (entry !== undefined) {
        inspection.note(entry)
        yield entry
      }
    }
    inspection.progress(keys.length, unreadable)
    if (keys.length < STEP) return
    after = (keys.at(-1) as ListedKey).key
    await pace.rest()
  }
}

/** Undefined if it is not wanted; null if its name or its state can't be read. */
async function read(
  { key, state }: ListedKey,
  now: number,
  inspection: Inspection,
  backend: ListingBackend,
): Promise<StoreEntry | undefined | null> {
  if (isPart(key)) return undefined
  const found = inspection.find(key)
  if (!found) return found
  const bytes = new Map([[key, state]])
  let parts: Map<string, Uint8Array | undefined> | undefined
  for (;;) {
    try {
      return entryOf(found, decodeWithParts(key, bytes), now)
    } catch (error) {
      if (!(error instanceof MissingKeys)) return null
      parts ??= await readParts(backend, key)
      for (const missing of error.keys) bytes.set(missing, parts.get(missing))
    }
  }
}

/** The parts of a state by their keys, read some time after it. */
async function readParts(backend: ListingBackend, name: string) {
  const { keys } = await backend.list({ ...partRange(name), count: STEP })
  return new Map(keys.map(({ key, state }) => [key, state]))
}
