import { ShardCalls } from '../calls/store-calls.ts'
import { type MemoryStore, memoryStore } from '../memory/memory-store.ts'
import type { Keyspace, Keyspaces, Ledger, Store } from '../store.ts'
import { type FailureMode, GuardedLedger } from './guarded-ledger.ts'
import { LedgerRefusals, RefusalCache } from './refusals.ts'
import { ResilientLedger } from './resilient-ledger.ts'

/** The most keys that this process counts by itself, over all limiters on one store. */
const MAX_LOCAL_KEYS = 100_000

/** What limiters on one remote store share: the calls to it, and the local counts and refusals. */
class Resilience {
  private readonly store: Store<'async'>
  /** The calls by their deadlines, ms. */
  private readonly calls = new Map<number, ShardCalls>()
  /** What this process counts in addition to the store. */
  private local: MemoryStore | undefined
  private readonly refusals: RefusalCache
  private users = 0

  constructor(store: Store<'async'>) {
    this.store = store
    this.refusals = new RefusalCache(store.clock)
  }

  open(keyspaces: Keyspaces, prefix: string, failureMode: FailureMode): Ledger<'async'> {
    const { policies, ban } = keyspaces
    const openSome = (numbers: readonly number[]) => {
      const some = numbers.map((number) => policies[number] as Keyspace)
      const ownBan = numbers.includes(0) ? ban : undefined
      const localLimit: FailureMode['localLimit'] = (i, limit) =>
        failureMode.localLimit(numbers[i] as number, limit)
      return this.guard({ policies: some, ban: ownBan }, prefix, { ...failureMode, localLimit })
    }
    const refusals = new LedgerRefusals(this.refusals, keyspaces, prefix, failureMode.refusalCache)
    if (failureMode.settles) refusals.settles()
    return new ResilientLedger(this.guard(keyspaces, prefix, failureMode), openSome, refusals)
  }

  join(): void {
    this.users += 1
  }

  /** When the last limiter has left, the counts and refusals are forgotten. */
  leave(): void {
    this.users -= 1
    if (this.users > 0) return
    this.forget()
    this.local = undefined
    for (const calls of this.calls.values()) calls.close()
  }

  forget(): void {
    this.local?.close()
    this.refusals.clear()
  }

  private guard(keyspaces: Keyspaces, prefix: string, failureMode: FailureMode): GuardedLedger {
    const { deadlineMs, localShare, onStoreError } = failureMode
    const remote = this.store.open(keyspaces, prefix, deadlineMs)
    const calls = this.calls.get(deadlineMs) ?? new ShardCalls(deadlineMs)
    this.calls.set(deadlineMs, calls)
    const local =
      onStoreError === 'local' ? this.openLocal(keyspaces, prefix, localShare) : undefined
    return new GuardedLedger(remote, local, calls, failureMode, keyspaces.ban !== undefined)
  }

  private openLocal(keyspaces: Keyspaces, prefix: string, localShare: number): Ledger<'sync'> {
    this.local ??= memoryStore({ maxKeys: MAX_LOCAL_KEYS, clock: this.store.clock })
    // Limiters with different shares can't read each other's states.
    return this.local.open(keyspaces, `${localShare}/${prefix}`)
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
export function resilientStore(store: Store<'async'>, failureMode: FailureMode) {
  const shared = resilienceOf(store)
  let isOpen = true
  shared.join()
  return {
    open: (keyspaces: Keyspaces, prefix: string) => shared.open(keyspaces, prefix, failureMode),
    /** The limiter is closed. If it is used again, this process starts to count from zero. */
    close(): void {
      if (isOpen) shared.leave()
      isOpen = false
    },
  }
}
