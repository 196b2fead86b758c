import { afterTurn } from '#platform'
import type { Charge, Ledger, StoreResult } from '../store.ts'
import type { Health } from './health.ts'
import type { StoreCall } from './sent-call.ts'

/** The most requests in one call, so that no call blocks the store for long. */
const MAX_BATCH = 128

/** What a client asks for, and how it is answered. */
export interface Asked {
  /** Decided one after the other, with no other request between them. */
  readonly requests: readonly (readonly Charge[])[]
  /** The store has decided, in time. None of these may throw. */
  decided(results: readonly StoreResult[]): void
  /** It has not answered in time, or failed. */
  failed(): void
  /** It has decided, but too late. */
  late?(results: readonly StoreResult[]): void
}

/**
 * Requests that arrive in the same turn of the event loop share a call; if the store decides keys
 * separately, those of the same key.
 */
export class Batches {
  private readonly remote: Ledger<'async'>
  private readonly healthOf: (key: string) => Health
  private readonly size: number
  private open = new Map<string, Batch>()

  constructor(remote: Ledger<'async'>, healthOf: (key: string) => Health) {
    this.remote = remote
    this.healthOf = healthOf
    this.size = remote.consumeAll === undefined ? 1 : MAX_BATCH
  }

  add(asked: Asked): void {
    const route = this.remote.part === undefined ? '' : keyOf(asked)
    const batch = this.open.get(route) ?? this.start(route)
    if (batch.asked.push(asked) < this.size) return
    this.open.delete(route)
    this.send(batch)
  }

  private start(route: string): Batch {
    if (this.open.size === 0) afterTurn(() => this.sendAll())
    const batch = new Batch(this.remote)
    this.open.set(route, batch)
    return batch
  }

  private sendAll(): void {
    const { open } = this
    this.open = new Map()
    for (const batch of open.values()) this.send(batch)
  }

  private send(batch: Batch): void {
    const health = this.healthOf(keyOf(batch.asked[0] as Asked))
    // A call that was made earlier in this turn may have failed.
    if (health.isTrusted) health.send(batch)
    else batch.failed()
  }
}

type Results = readonly (StoreResult | Error)[]

/** What shares a call. */
class Batch implements StoreCall<Results> {
  readonly asked: Asked[] = []
  private readonly remote: Ledger<'async'>

  constructor(remote: Ledger<'async'>) {
    this.remote = remote
  }

  ask(): Promise<Results> {
    const { remote, asked } = this
    const requests =
      asked.length === 1 ? (asked[0] as Asked).requests : asked.flatMap((each) => each.requests)
    return (
      remote.consumeAll?.(requests) ?? Promise.all(requests.map((each) => remote.consume(each)))
    )
  }

  answered(results: Results): void {
    this.handOut(results, (asked, own) => {
      if (isDecided(own)) asked.decided(own)
      else asked.failed()
    })
  }

  failed(): void {
    for (const asked of this.asked) asked.failed()
  }

  late(results: Results): void {
    this.handOut(results, (asked, own) => {
      if (isDecided(own)) asked.late?.(own)
    })
  }

  private handOut(results: Results, give: (asked: Asked, own: Results) => void): void {
    if (this.asked.length === 1) {
      give(this.asked[0] as Asked, results)
      return
    }
    let from = 0
    for (const asked of this.asked) {
      const to = from + asked.requests.length
      give(asked, results.slice(from, to))
      from = to
    }
  }
}

function keyOf({ requests }: Asked): string {
  const [[charge]] = requests as [[Charge]]
  return charge.key
}

function isDecided(results: Results): results is readonly StoreResult[] {
  return results.every((result) => !(result instanceof Error))
}
