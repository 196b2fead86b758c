import { madeOnce } from '../../made-once.ts'
import { ShardCalls } from '../calls/store-calls.ts'
import { type MemoryStore, memoryStore } from '../memory/memory-store.ts'
import type { Keyspace, Ledger, Store } from '../store.ts'
import { type FailureMode, GuardedLedger } from './guarded-ledger.ts'
import { LedgerRefusals, RefusalCache } from './refusals.ts'
import { ResilientLedger } from './resilient-ledger.ts'

/** The most keys that this process counts by itself, over all limiters on one store. */
const MAX_LOCAL_KEYS = 100_000

/** The calls to one remote store, and its local counts and refusals, which its limiters share. */
export class Resilience {
  readonly #store: Store<'async'>
  /** The calls by their deadlines, ms. */
  readonly #calls = new Map<number, ShardCalls>()
  /** The counts that this process makes in addition to the store. */
  #local: MemoryStore | undefined
  readonly #refusals: RefusalCache
  #users = 0

  constructor(store: Store<'async'>) {
    this.#store = store
    this.#refusals = new RefusalCache(store.clock)
  }

  /** @param remote the store's ledger of the keyspaces */
  async open(
    keyspaces: readonly Keyspace[],
    prefix: string,
    failureMode: FailureMode,
    remote: Ledger<'async'>,
  ): Promise<Ledger<'async'>> {
    const { deadlineMs, refusalCache, rememberedMs, settles } = failureMode
    const shared = this.#refusals
    const refusals = new LedgerRefusals(shared, keyspaces, prefix, refusalCache, rememberedMs)
    if (settles) refusals.settles()
    const trouble = () => this.#store.trouble?.()
    const calls = madeOnce(this.#calls, deadlineMs, () => new ShardCalls(deadlineMs, trouble))
    const { shard: shardOf } = remote
    if (shardOf === undefined) {
      const local = this.#openLocal(keyspaces, prefix, failureMode)
      const guard = new GuardedLedger(remote, local, calls.to(0), failureMode)
      return new ResilientLedger(guard, refusals)
    }
    const { ShardedLedger, ShardLedger } = await import('./sharded-ledger.ts')
    const open = (policies: readonly number[]) => {
      const own = policies.map((policy) => keyspaces[policy] as Keyspace)
      const isAll = own.length === keyspaces.length
      const ofOwn = isAll ? remote : this.#store.open(own, prefix, deadlineMs)
      const local = this.#openLocal(own, prefix, failureMode)
      return (shard: number) => new ShardLedger(ofOwn, local, calls.to(shard), failureMode)
    }
    return new ResilientLedger(new ShardedLedger(shardOf, keyspaces.length, open), refusals)
  }

  join(): void {
    this.#users += 1
  }

  /** When the last limiter has left, the counts and refusals are forgotten. */
  leave(): void {
    this.#users -= 1
    if (this.#users > 0) return
    this.forget()
    this.#local = undefined
    for (const calls of this.#calls.values()) calls.close()
  }

  forget(): void {
    this.#local?.close()
    this.#refusals.clear()
  }

  #openLocal(
    keyspaces: readonly Keyspace[],
    prefix: string,
    { onStoreError, localShare }: FailureMode,
  ): Ledger<'sync'> | undefined {
    if (onStoreError !== 'local') return undefined
    this.#local ??= memoryStore({ maxKeys: MAX_LOCAL_KEYS, clock: this.#store.clock })
    // Limiters with different shares can't read each other's states.
    const apart = (each: Keyspace): Keyspace => {
      return { ...each, prefix: `${localShare}/${each.prefix ?? prefix}` }
    }
    return this.#local.open(keyspaces.map(apart), prefix)
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

/** Returns the parts that limiters on this store share. */
export function resilienceOf(store: Store<'async'>): Resilience {
  return madeOnce(resiliences, store, () => {
    const resilience = new Resilience(store)
    known.add(new WeakRef(resilience))
    return resilience
  })
}
