import { afterTurn } from '#platform'
import { isTooMuch, workOf } from '../rules/work.ts'
import type { Charge, Ledger, StoreResult } from '../store.ts'
import type { PartCalls, StoreCall } from './store-calls.ts'

type Requests = readonly (readonly Charge[])[]
type Results = readonly (StoreResult | Error)[]

type Use<T> = (results: readonly StoreResult[] | undefined) => T
type Late = (results: readonly StoreResult[]) => void

/** Requests of one key that wait for the results of their batch. */
interface Waiting {
  /** The indexes of their results: from the first to before the last. */
  readonly from: number
  readonly to: number
  readonly use: Use<unknown>
  readonly late: Late | undefined
  readonly resolve: (answer: never) => void
  readonly reject: (error: unknown) => void
}

/**
 * Requests that arrive in the same turn of the event loop share a call; if the store decides keys
 * separately, those of the same key.
 */
export class Batches {
  private readonly remote: Ledger<'async'>
  private readonly parts: PartCalls
  /** Whether a call can have several requests. */
  private readonly shares: boolean
  private readonly hasBan: boolean
  private open = new Map<string, Batch>()

  /**
   * @param parts the calls to each part of the store
   * @param hasBan whether a ban decides about each request too
   */
  constructor(remote: Ledger<'async'>, parts: PartCalls, hasBan: boolean) {
    this.remote = remote
    this.parts = parts
    this.hasBan = hasBan
    this.shares = remote.consumeAll !== undefined
  }

  /**
   * Decides requests of the same key one after the other, with no other request between them.
   *
   * @param use makes the answer of the results; of undefined, if the store has not decided all of them in
   *   time
   * @param late given the results, if they come too late. Must not throw
   */
  ask<T>(requests: Requests, use: Use<T>, late?: Late): Promise<T> {
    const { key } = (requests[0] as readonly [Charge])[0]
    const route = this.remote.part === undefined ? '' : key
    let batch = this.open.get(route)
    if (batch !== undefined && !batch.hasRoomFor(requests, this.hasBan)) {
      this.open.delete(route)
      this.send(batch)
      batch = undefined
    }
    if (batch === undefined) {
      if (this.open.size === 0) afterTurn(this.sendAll)
      batch = new Batch(this.remote)
      this.open.set(route, batch)
    }
    const { requests: all, waiting } = batch
    const from = all.length
    for (const charges of requests) all.push(charges)
    const answer = new Promise<T>((resolve, reject) => {
      waiting.push({ from, to: all.length, use, late, resolve, reject })
    })
    if (!this.shares) {
      this.open.delete(route)
      this.send(batch)
    }
    return answer
  }

  private readonly sendAll = () => {
    const { open } = this
    this.open = new Map()
    for (const batch of open.values()) this.send(batch)
  }

  private send(batch: Batch): void {
    const [[{ key }]] = batch.requests as [[Charge]]
    const calls = this.parts.of(this.remote, key)
    // A call that was made earlier in this turn may have failed.
    if (calls.isTrusted) calls.send(batch)
    else batch.failed()
  }
}

/** What shares a call. */
class Batch implements StoreCall<Results> {
  readonly requests: (readonly Charge[])[] = []
  private readonly remote: Ledger<'async'>
  readonly waiting: Waiting[] = []
  /** How much work its requests are; undefined until another one asks. */
  private work: number | undefined = undefined

  constructor(remote: Ledger<'async'>) {
    this.remote = remote
  }

  /** Whether it stays short enough with these requests: no call may block the store for long. */
  hasRoomFor(requests: Requests, hasBan: boolean): boolean {
    this.work = (this.work ?? workOfAll(this.requests, hasBan)) + workOfAll(requests, hasBan)
    return !isTooMuch(this.work)
  }

  ask(): Promise<Results> {
    const { remote, requests } = this
    return (
      remote.consumeAll?.(requests) ?? Promise.all(requests.map((each) => remote.consume(each)))
    )
  }

  answered(results: Results): void {
    for (const each of this.waiting) conclude(each, decidedOf(results, each.from, each.to))
  }

  failed(): void {
    for (const each of this.waiting) conclude(each, undefined)
  }

  late(results: Results): void {
    for (const { from, to, late } of this.waiting) {
      const decided = late && decidedOf(results, from, to)
      if (decided !== undefined) late?.(decided)
    }
  }
}

function conclude(
  { use, resolve, reject }: Waiting,
  results: readonly StoreResult[] | undefined,
): void {
  try {
    resolve(use(results) as never)
  } catch (error) {
    reject(error)
  }
}

/** The results from one index to before another; undefined if one of them is an error. */
function decidedOf(results: Results, from: number, to: number): readonly StoreResult[] | undefined {
  for (let i = from; i < to; i += 1) if (results[i] instanceof Error) return undefined
  const own = to - from === results.length ? results : results.slice(from, to)
  return own as readonly StoreResult[]
}

function workOfAll(requests: Requests, hasBan: boolean): number {
  let work = hasBan ? requests.length : 0
  for (const charges of requests) work += workOf(charges)
  return work
}
