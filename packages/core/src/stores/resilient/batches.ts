import { afterTurn } from '#platform'
import { isTooMuch, workOf } from '../rules/work.ts'
import type { Charge, Ledger, StoreResult } from '../store.ts'
import type { Health } from './health.ts'
import type { StoreCall } from './sent-call.ts'

type Requests = readonly (readonly Charge[])[]
type Results = readonly (StoreResult | Error)[]

/**
 * Requests that arrive in the same turn of the event loop share a call; if the store decides keys
 * separately, those of the same key.
 */
export class Batches {
  private readonly remote: Ledger<'async'>
  private readonly healthOf: (key: string) => Health
  /** Whether a call can have several requests. */
  private readonly shares: boolean
  private open = new Map<string, Batch>()

  constructor(remote: Ledger<'async'>, healthOf: (key: string) => Health) {
    this.remote = remote
    this.healthOf = healthOf
    this.shares = remote.consumeAll !== undefined
  }

  /**
   * Decides requests of the same key one after the other, with no other request between them.
   *
   * @param decided given the results, if the store has decided all of them in time
   * @param failed otherwise
   * @param late given the results, if they come too late. Must not throw
   * @returns what `decided` or `failed` returns
   */
  ask<T>(
    requests: Requests,
    decided: (results: readonly StoreResult[]) => T,
    failed: () => T,
    late?: (results: readonly StoreResult[]) => void,
  ): Promise<T> {
    const { key } = (requests[0] as readonly [Charge])[0]
    const route = this.remote.part === undefined ? '' : key
    let work = 0
    for (const charges of requests) work += workOf(charges)
    const begun = this.batchFor(route, work)
    const batch = begun ?? this.start(route, requests)
    const from = begun === undefined ? 0 : begun.add(requests)
    const to = batch.requests.length
    batch.work += work
    if (late !== undefined) {
      batch.lateListeners.push((all) => {
        const own = ownOf(all, from, to)
        if (areDecided(own)) late(own)
      })
    }
    if (!this.shares) {
      this.open.delete(route)
      this.send(batch)
    }
    return batch.answer.then((all) => {
      const own = ownOf(all, from, to)
      return areDecided(own) ? decided(own) : failed()
    }, failed)
  }

  /** The call that has room for so much work; one without room is sent. */
  private batchFor(route: string, work: number): Batch | undefined {
    const begun = this.open.get(route)
    if (begun === undefined || !isTooMuch(begun.work + work)) return begun
    this.open.delete(route)
    this.send(begun)
    return undefined
  }

  private start(route: string, requests: Requests): Batch {
    if (this.open.size === 0) afterTurn(this.sendAll)
    const batch = new Batch(this.remote, requests)
    this.open.set(route, batch)
    return batch
  }

  private readonly sendAll = () => {
    const { open } = this
    this.open = new Map()
    for (const batch of open.values()) this.send(batch)
  }

  private send(batch: Batch): void {
    const [[{ key }]] = batch.requests as [[Charge]]
    const health = this.healthOf(key)
    // A call that was made earlier in this turn may have failed.
    if (health.isTrusted) health.send(batch)
    else batch.failed(health.failure)
  }
}

/** What shares a call. */
class Batch implements StoreCall<Results> {
  readonly requests: (readonly Charge[])[]
  readonly answer: Promise<Results>
  answered!: (results: Results) => void
  failed!: (error: unknown) => void
  work = 0
  private readonly remote: Ledger<'async'>
  readonly lateListeners: ((results: Results) => void)[] = []

  /** @param requests the first ones */
  constructor(remote: Ledger<'async'>, requests: Requests) {
    this.remote = remote
    // An array that starts with its elements has room for these; an empty one takes room for 17.
    this.requests = [...requests]
    this.answer = new Promise((resolve, reject) => {
      this.answered = resolve
      this.failed = reject
    })
  }

  /** @returns the place of the first of them */
  add(requests: Requests): number {
    const from = this.requests.length
    for (const charges of requests) this.requests.push(charges)
    return from
  }

  ask(): Promise<Results> {
    const { remote, requests } = this
    return (
      remote.consumeAll?.(requests) ?? Promise.all(requests.map((each) => remote.consume(each)))
    )
  }

  late(results: Results): void {
    for (const listener of this.lateListeners) listener(results)
  }
}

/** The results from one place up to another; no copy if these are all. */
function ownOf(all: Results, from: number, to: number): Results {
  return to - from === all.length ? all : all.slice(from, to)
}

function areDecided(results: Results): results is readonly StoreResult[] {
  return results.every((result) => !(result instanceof Error))
}
