import { setTimeout as delay } from 'node:timers/promises'
import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import type { Decide, StateChange } from '@sluice/transactional'
import { bytesOf, changed, hasWritten, type Item, placeOf, stateIn } from './items.ts'
import { type Command, ServerClock } from './server-clock.ts'

/** The longest average pause before another attempt, ms, and how much longer each one is than the last. */
const PAUSE_MS = 50
const STEP_MS = 2
/** The most bytes of items that a process remembers. */
const MAX_BYTES = 8_000_000
/** Why an item was not written: it is another one, or a transaction is about it. */
const FAILED = 'ConditionalCheckFailed'
const CONFLICT = 'TransactionConflict'

type Items = Map<string, Item>

/** What DynamoDB says about a write, or about each of several. */
interface Failure {
  readonly name?: string
  readonly Code?: string
  readonly Item?: Item
  readonly CancellationReasons?: readonly Failure[]
}

/**
 * Transactions by conditional writes. The first attempt is decided on what this process remembers: if an item is another
 * one by now, the answer has it. What changes nothing, as a refusal, is decided on what is read.
 */
export class Transactions {
  readonly #client: DynamoDBClient
  readonly #table: string
  readonly #clock: (() => number) | undefined
  readonly #server = new ServerClock()
  readonly #remembered: Items = new Map()
  /** Bytes of the remembered items, so that what is remembered has a bound. */
  #bytes = 0

  /** @param clock the injected clock */
  constructor(client: DynamoDBClient, table: string, clock: (() => number) | undefined) {
    this.#client = client
    this.#table = table
    this.#clock = clock
  }

  /** See `TransactionalBackend.transact`. It is tried until its time is over. */
  async transact<T>(keys: readonly string[], decide: Decide<T>, ms: number): Promise<T> {
    const signal = AbortSignal.timeout(ms)
    const places = keys.map(placeOf)
    const ids = [...new Set(places.map(({ id }) => id))]
    /** The items as they were at some time of this transaction. */
    const seen: Items = new Map()
    for (let attempt = 0; ; attempt += 1) {
      // At random, so that processes with the same item do not go on together.
      const pause = attempt < 2 ? 0 : 2 * Math.random() * Math.min(PAUSE_MS, STEP_MS * attempt)
      if (pause > 0) await delay(pause, undefined, { signal })
      const now = this.#clock?.() ?? this.#server.now()
      const found: Items = new Map(
        ids.map((id) => [id, (seen.has(id) ? seen : this.#remembered).get(id)]),
      )
      const states = places.map(({ id, name }) => stateIn(found.get(id), name))
      const { changes, value } = decide(states, now)
      if (changes.length > 0) {
        if (await this.#write(found, changes, now, seen, signal)) return value
      } else {
        const unseen = ids.filter((id) => !seen.has(id))
        if (unseen.length === 0) return value
        const read = async (id: string) => this.#see(id, await this.#read(id, signal), seen)
        await Promise.all(unseen.map(read))
      }
    }
  }

  async #read(id: string, signal: AbortSignal): Promise<Item> {
    const item = { TableName: this.#table, Key: { id: { S: id } }, ConsistentRead: true }
    return (await this.#send(new GetItemCommand(item), signal)).Item
  }

  /**
   * Writes changes, if all items that were found are still the same.
   *
   * @returns whether they were written; otherwise `seen` has those that are others by now
   */
  async #write(
    found: Items,
    changes: readonly StateChange[],
    now: number,
    seen: Items,
    signal: AbortSignal,
  ): Promise<boolean> {
    const ids = [...found.keys()]
    const writes = ids.map((id) => {
      const version = found.get(id)?.v
      const own = changes.filter(({ key }) => placeOf(key).id === id)
      return {
        TableName: this.#table,
        ...(own.length === 0 && { Key: { id: { S: id } } }),
        ...(own.length > 0 && { Item: changed(id, found.get(id), own, now) }),
        ConditionExpression: version ? 'v = :v' : 'attribute_not_exists(v)',
        ...(version && { ExpressionAttributeValues: { ':v': version } }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }
    })
    try {
      await this.#send(commandOf(writes), signal)
    } catch (error) {
      const reasons = reasonsOf(error)
      const look = async (id: string, i: number) => {
        if (reasons[i]?.Code !== FAILED) return
        // It may be deleted by now.
        this.#see(id, reasons[i].Item ?? (await this.#read(id, signal)), seen)
      }
      await Promise.all(ids.map(look))
      return ids.some((id, i) => hasWritten(writes[i]?.Item, seen.get(id)))
    }
    for (const { Item } of writes) if (Item) this.#see(Item.id.S, Item, seen)
    return true
  }

  #see(id: string, item: Item, seen: Items): void {
    seen.set(id, item)
    // The newest is the last.
    this.#forget(id)
    this.#remembered.set(id, item)
    this.#bytes += bytesOf(item)
    while (this.#bytes > MAX_BYTES) this.#forget(this.#remembered.keys().next().value as string)
  }

  #forget(id: string): void {
    if (this.#remembered.has(id)) this.#bytes -= bytesOf(this.#remembered.get(id))
    this.#remembered.delete(id)
  }

  async #send(command: Command, abortSignal: AbortSignal): Promise<{ readonly Item?: Item }> {
    this.#server.watch(command)
    return (await this.#client.send(command as never, { abortSignal })) as object
  }
}

/** A write of one item, or of all of them together. */
function commandOf(writes: readonly { readonly Item?: Item }[]): Command {
  if (writes.length === 1) return new PutItemCommand(writes[0] as never)
  const TransactItems = writes.map((each) => ({ [each.Item ? 'Put' : 'ConditionCheck']: each }))
  return new TransactWriteItemsCommand({ TransactItems } as never)
}

/** Why each item was not written. @throws the failure itself, unless another attempt may succeed */
function reasonsOf(error: unknown): readonly Failure[] {
  const { name, Item, CancellationReasons = [] } = error as Failure
  if (name === `${FAILED}Exception`) return [{ Code: FAILED, Item }]
  const retried = [FAILED, CONFLICT, 'None', undefined]
  const isConflict = name === `${CONFLICT}Exception` || CancellationReasons.length > 0
  if (isConflict && CancellationReasons.every(({ Code }) => retried.includes(Code)))
    return CancellationReasons
  throw error
}
