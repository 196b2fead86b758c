import type { Charge, Ledger, StoreResult } from '../store.ts'
import type { Health } from './health.ts'

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
  private open = new Map<string, Asked[]>()

  constructor(remote: Ledger<'async'>, healthOf: (key: string) => Health) {
    this.remote = remote
    this.healthOf = healthOf
    this.size = remote.consumeAll === undefined ? 1 : MAX_BATCH
  }

  add(asked: Asked): void {
    const route = this.remote.part === undefined ? '' : keyOf(asked)
    const batch = this.open.get(route) ?? this.start(route)
    if (batch.push(asked) < this.size) return
    this.open.delete(route)
    this.send(batch)
  }

  private start(route: string): Asked[] {
    if (this.open.size === 0) setImmediate(() => this.sendAll())
    const batch: Asked[] = []
    this.open.set(route, batch)
    return batch
  }

  private sendAll(): void {
    const { open } = this
    this.open = new Map()
    for (const batch of open.values()) this.send(batch)
  }

  private send(batch: readonly Asked[]): void {
    const fail = () => {
      for (const asked of batch) asked.failed()
    }
    const health = this.healthOf(keyOf(batch[0] as Asked))
    // A call that was made earlier in this turn may have failed.
    if (!health.isTrusted) {
      fail()
      return
    }
    const requests =
      batch.length === 1 ? batch[0]?.requests : batch.flatMap((each) => each.requests)
    health
      .call(
        () => this.decide(requests as Asked['requests']),
        (results) => handOut(results, batch, (asked, own) => isDecided(own) && asked.late?.(own)),
      )
      .then((results) => handOut(results, batch, answer), fail)
  }

  private decide(requests: Asked['requests']): Promise<readonly (StoreResult | Error)[]> {
    const { remote } = this
    return (
      remote.consumeAll?.(requests) ?? Promise.all(requests.map((each) => remote.consume(each)))
    )
  }
}

function keyOf({ requests }: Asked): string {
  const [[charge]] = requests as [[Charge]]
  return charge.key
}

function answer(asked: Asked, results: readonly (StoreResult | Error)[]): void {
  if (isDecided(results)) asked.decided(results)
  else asked.failed()
}

function handOut(
  results: readonly (StoreResult | Error)[],
  batch: readonly Asked[],
  give: (asked: Asked, own: readonly (StoreResult | Error)[]) => void,
): void {
  let from = 0
  for (const asked of batch) {
    const to = from + asked.requests.length
    give(asked, results.slice(from, to))
    from = to
  }
}

function isDecided(results: readonly (StoreResult | Error)[]): results is readonly StoreResult[] {
  return results.every((result) => !(result instanceof Error))
}
