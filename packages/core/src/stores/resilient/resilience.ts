import { PartCalls } from '../calls/store-calls.ts'
import type { Keyspace, Keyspaces, Ledger, Store } from '../store.ts'
import type { FailureMode } from './failure-mode.ts'
import { GuardedLedger } from './guarded-ledger.ts'
import { LedgerRefusals } from './ledger-refusals.ts'
import { LocalCounts } from './local-counts.ts'
import { RefusalCache } from './refusal-cache.ts'
import { ResilientLedger } from './resilient-ledger.ts'
import { SplitLedger } from './split-ledger.ts'

/** What limiters on one remote store share: the calls to it, and the local counts and refusals. */
class Resilience {
  private readonly store: Store<'async'>
  /** The calls by their deadlines, ms. */
  private readonly calls = new Map<number, PartCalls>()
  private readonly local: LocalCounts
  private readonly refusals: RefusalCache
  private users = 0

  constructor(store: Store<'async'>) {
    this.store = store
    this.local = new LocalCounts(store.clock)
    this.refusals = new RefusalCache(store.clock)
  }

  open(keyspaces: Keyspaces, prefix: string, failureMode: FailureMode): Ledger<'async'> {
    const { policies, ban } = keyspaces
    const whole = this.guard(keyspaces, prefix, failureMode)
    const deciding =
      whole.part === undefined
        ? whole
        : new SplitLedger(whole, (places) => {
            const own = places.map((place) => policies[place] as Keyspace)
            return this.guard(
              { policies: own, ban: places.includes(0) ? ban : undefined },
              prefix,
              {
                ...failureMode,
                localLimit: (i, limit) => failureMode.localLimit(places[i] as number, limit),
              },
            )
          })
    const refusals = new LedgerRefusals(this.refusals, keyspaces, prefix, failureMode.refusalCache)
    if (failureMode.settles) refusals.settles()
    return new ResilientLedger(deciding, refusals)
  }

  join(): void {
    this.users += 1
  }

  /** When the last limiter has left, the counts and refusals are forgotten. */
  leave(): void {
    this.users -= 1
    if (this.users > 0) return
    this.forget()
    for (const calls of this.calls.values()) calls.close()
  }

  forget(): void {
    this.local.clear()
    this.refusals.clear()
  }

  private guard(keyspaces: Keyspaces, prefix: string, failureMode: FailureMode): GuardedLedger {
    const remote = this.store.open(keyspaces, prefix, failureMode.deadlineMs)
    const calls = this.callsWithin(failureMode.deadlineMs)
    // Limiters with different shares can't read each other's states.
    const local = this.local.opener(keyspaces, `${failureMode.localShare}/${prefix}`)
    return new GuardedLedger(remote, local, calls, failureMode, keyspaces.ban !== undefined)
  }

  private callsWithin(deadlineMs: number): PartCalls {
    const calls = this.calls.get(deadlineMs) ?? new PartCalls(deadlineMs)
    this.calls.set(deadlineMs, calls)
    return calls
  }
}

const resiliences = new WeakMap<Store, Resilience>()
/** The values of `resiliences` whose stores are still in use, and perhaps of some that were. */
const known = new Set<WeakRef<Resilience>>()

/** Every store starts anew with what this process remembers of it: for tests. */
export function forgetAll(): void {
  for (const each of known) {
    const resilience = each.deref()
    if (resilience === undefined) known.delete(each)
    else resilience.forget()
  }
}

function resilienceOf(store: Store<'async'>): Resilience {
  let resilience = resiliences.get(store)
  if (resilience === undefined) {
    resilience = new Resilience(store)
    resiliences.set(store, resilience)
    known.add(new WeakRef(resilience))
  }
  return resilience
}

/** A remote store for one limiter: every request is decided in time, whatever the store does. */
export class ResilientStore {
  private readonly shared: Resilience
  private readonly failureMode: FailureMode
  private closed = false

  constructor(store: Store<'async'>, failureMode: FailureMode) {
    this.shared = resilienceOf(store)
    this.failureMode = failureMode
    this.shared.join()
  }

  open(keyspaces: Keyspaces, prefix: string): Ledger<'async'> {
    return this.shared.open(keyspaces, prefix, this.failureMode)
  }

  /** The limiter is closed. If it is used again, this process starts to count from zero. */
  close(): void {
    if (this.closed) return
    this.closed = true
    this.shared.leave()
  }
}
