import { setTimeout as delay } from 'node:timers/promises'
import {
  type AttributeValue,
  GetItemCommand,
  type GetItemCommandOutput,
  PutItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { StoreError } from '@sluice/core'
import type { StateChange, Transaction } from '@sluice/transactional'
import type { DynamodbClient } from './client.ts'
import {
  attributesOf,
  changed,
  hasWritten,
  type Item,
  itemOf,
  NO_ITEM,
  placeOf,
  RememberedItems,
  stateIn,
} from './items.ts'
import { ServerClock } from './server-clock.ts'

/** How often a transaction is tried before it fails. */
const MAX_ATTEMPTS = 100
/** The longest average pause before another attempt, ms, */
const PAUSE_MS = 50
/** and how much longer each one is than the last. */
const STEP_MS = 2

/** See `TransactionalBackend.transact`. */
type Decide<T> = (states: readonly (Uint8Array | undefined)[], now: number) => Transaction<T>

type Command = GetItemCommand | PutItemCommand | TransactWriteItemsCommand

/** What a middleware gets. */
interface Answer {
  readonly response: { readonly headers?: { readonly date?: string } }
}

/** Why an item was not written: it is another one, or a transaction is about it. */
const FAILED = 'ConditionalCheckFailed'
const CONFLICT = 'TransactionConflict'
const RETRIED = [FAILED, CONFLICT, 'None']

interface Reason {
  readonly Code?: string
  readonly Item?: Record<string, AttributeValue> | undefined
}

interface Cancellation {
  readonly CancellationReasons?: readonly Reason[]
}

/**
 * Transactions by conditional writes. The first attempt is decided on what this process remembers, a request alone: if
 * an item is another one by now, the answer has it. What changes nothing, as a refusal, is decided on what is read.
 */
export class Transactions {
  readonly #client: DynamodbClient
  readonly #table: string
  readonly #clock: (() => number) | undefined
  readonly #server = new ServerClock()
  readonly #remembered = new RememberedItems()

  /** @param clock the injected clock */
  constructor(client: DynamodbClient, table: string, clock: (() => number) | undefined) {
    this.#client = client
    this.#table = table
    this.#clock = clock
  }

  /** See `TransactionalBackend.transact`. */
  async transact<T>(keys: readonly string[], decide: Decide<T>, ms: number): Promise<T> {
    const signal = AbortSignal.timeout(ms)
    const places = keys.map(placeOf)
    const ids = [...new Set(places.map(({ id }) => id))]
    /** The items as they were at some time of this transaction. */
    const seen = new Map<string, Item>()
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (attempt > 1) await pause(attempt, signal)
      const now = this.#clock?.() ?? this.#server.now()
      const found = new Map(
        ids.map((id) => [id, seen.get(id) ?? this.#remembered.get(id) ?? NO_ITEM]),
      )
      const states = places.map((place) => stateIn(found.get(place.id) as Item, place))
      const { changes, value } = decide(states, now)
      if (changes.length === 0) {
        const unseen = ids.filter((id) => !seen.has(id))
        if (unseen.length === 0) return value
        await this.#read(unseen, seen, signal)
        continue
      }
      const written = writtenOf(found, changes, now)
      if (await this.#write(found, written, seen, now, signal)) return value
    }
    throw new StoreError({
      code: 'SLUICE_STORE_CONTENTION',
      operation: 'transact',
      problem: `others changed the items during each of ${MAX_ATTEMPTS} attempts`,
      advice: 'Nothing was written.',
    })
  }

  async #read(ids: readonly string[], seen: Map<string, Item>, signal: AbortSignal): Promise<void> {
    const read = async (id: string) => {
      const asked = { TableName: this.#table, Key: { id: { S: id } }, ConsistentRead: true }
      const answer = (await this.#send(new GetItemCommand(asked), signal)) as GetItemCommandOutput
      this.#see(id, itemOf(answer.Item), seen)
    }
    await Promise.all(ids.map(read))
  }

  /**
   * Writes items, if all that were found are still the same.
   *
   * @returns whether they were written; otherwise `seen` has those that are others by now
   */
  async #write(
    found: ReadonlyMap<string, Item>,
    written: ReadonlyMap<string, Item>,
    seen: Map<string, Item>,
    now: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const ids = [...found.keys()]
    try {
      await this.#send(this.#commandOf(found, written, now), signal)
    } catch (error) {
      const failed = reasonsOf(error)
      if (failed === undefined) throw error
      const unseen: string[] = []
      for (const [i, { Code, Item }] of failed.entries()) {
        if (Code !== FAILED) continue
        const id = ids[i] as string
        if (Item === undefined) unseen.push(id)
        else this.#see(id, itemOf(Item), seen)
      }
      await this.#read(unseen, seen, signal)
      return [...written].some(([id, item]) => hasWritten(item, seen.get(id) ?? NO_ITEM))
    }
    for (const [id, item] of written) this.#remembered.set(id, item)
    return true
  }

  #commandOf(found: ReadonlyMap<string, Item>, written: ReadonlyMap<string, Item>, now: number) {
    const writes = [...found].map(([id, { version }]) => {
      const item = written.get(id)
      return {
        TableName: this.#table,
        ...(item ? { Item: attributesOf(id, item, now) } : { Key: { id: { S: id } } }),
        ConditionExpression: version ? 'v = :v' : 'attribute_not_exists(v)',
        ...(version && { ExpressionAttributeValues: { ':v': { B: version } } }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      }
    })
    const [only] = writes
    if (writes.length === 1) return new PutItemCommand(only as never)
    const TransactItems = writes.map((write) =>
      'Item' in write ? { Put: write } : { ConditionCheck: write },
    )
    return new TransactWriteItemsCommand({ TransactItems } as never)
  }

  #see(id: string, item: Item, seen: Map<string, Item>): void {
    seen.set(id, item)
    this.#remembered.set(id, item)
  }

  #send(command: Command, abortSignal: AbortSignal): Promise<unknown> {
    if (this.#clock === undefined) {
      const observe = (next: (args: never) => Promise<Answer>) => async (args: never) => {
        const sentAt = Date.now()
        const answer = await next(args)
        this.#server.observe(answer.response.headers?.date, sentAt, Date.now())
        return answer
      }
      const stack: { add(middleware: unknown, place: object): void } = command.middlewareStack
      stack.add(observe, { step: 'deserialize', priority: 'low' })
    }
    return this.#client.send(command as never, { abortSignal })
  }
}

/** Waits at random, so that processes with the same item do not go on together. */
async function pause(attempt: number, signal: AbortSignal): Promise<void> {
  await delay(2 * Math.random() * Math.min(PAUSE_MS, STEP_MS * attempt), undefined, { signal })
}

/** The items that changes are in, after them. */
function writtenOf(
  found: ReadonlyMap<string, Item>,
  changes: readonly StateChange[],
  now: number,
): Map<string, Item> {
  const byItem = new Map<string, Map<string, StateChange>>()
  for (const change of changes) {
    const { id, name } = placeOf(change.key)
    byItem.set(id, (byItem.get(id) ?? new Map()).set(name, change))
  }
  const after = ([id, own]: [string, Map<string, StateChange>]) =>
    [id, changed(found.get(id) as Item, own, now)] as const
  return new Map([...byItem].map(after))
}

/** Why each item was not written, if another attempt may be; undefined: it is another failure. */
function reasonsOf(error: unknown): readonly Reason[] | undefined {
  const { name, Item, CancellationReasons } = error as Error & Reason & Cancellation
  if (name === 'ConditionalCheckFailedException') return [{ Code: FAILED, Item }]
  if (name === `${CONFLICT}Exception`) return []
  const areOthers = CancellationReasons?.every(({ Code = 'None' }) => RETRIED.includes(Code))
  return areOthers ? CancellationReasons : undefined
}
