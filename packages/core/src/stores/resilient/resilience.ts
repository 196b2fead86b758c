import { memoryStore } from '../memory/memory-store.ts'
import type { Ledger, Space, Store } from '../store.ts'
import { ResilientLedger, type Stance } from './resilient-ledger.ts'
import { StoreHealth } from './store-health.ts'

/** Keys that this process counts by itself at most, over all limiters on one store. */
const LOCAL_KEYS = 100_000

/** What limiters on one remote store share: how it is, and what this process has counted itself. */
class Resilience {
  private readonly store: Store<'async'>
  private readonly local: Store<'sync'>
  private readonly healths = new Map<number, StoreHealth>()

  constructor(store: Store<'async'>) {
    this.store = store
    this.local = memoryStore({ maxKeys: LOCAL_KEYS, clock: store.clock })
  }

  open(spaces: readonly Space[], prefix: string, stance: Stance): Ledger<'async'> {
    const { clock } = this.store
    const remote = this.store.open(spaces, prefix)
    const health = this.health(stance.deadlineMs)
    const healthOf = (key: string) => health.of(remote.part?.(key) ?? 0)
    // States of different shares can't be read by one another.
    const local = this.local.open(spaces, `${stance.localShare}/${prefix}`)
    return new ResilientLedger(remote, local, healthOf, stance, clock)
  }

  private health(deadlineMs: number): StoreHealth {
    const health = this.healths.get(deadlineMs) ?? new StoreHealth(deadlineMs)
    this.healths.set(deadlineMs, health)
    return health
  }
}

const resiliences = new WeakMap<Store, Resilience>()

/** Opens a ledger of a remote store that decides every request in time, whatever the store does. */
export function openResilient(
  store: Store<'async'>,
  spaces: readonly Space[],
  prefix: string,
  stance: Stance,
): Ledger<'async'> {
  const resilience = resiliences.get(store) ?? new Resilience(store)
  resiliences.set(store, resilience)
  return resilience.open(spaces, prefix, stance)
}
