import { memoryStore } from '../memory/memory-store.ts'
import type { Ledger, Space, Store } from '../store.ts'
import { GuardedLedger } from './guarded-ledger.ts'
import { ResilientLedger, type Stance } from './resilient-ledger.ts'
import { SplitLedger } from './split-ledger.ts'
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
    const whole = this.guard(spaces, prefix, stance)
    const deciding =
      whole.part === undefined
        ? whole
        : new SplitLedger((places) =>
            this.guard(
              places.map((place) => spaces[place] as Space),
              prefix,
              {
                ...stance,
                localQuota: (i, quota) => stance.localQuota(places[i] as number, quota),
              },
            ),
          )
    return new ResilientLedger(deciding, stance.refusalCache, this.store.clock)
  }

  private guard(spaces: readonly Space[], prefix: string, stance: Stance): GuardedLedger {
    const remote = this.store.open(spaces, prefix)
    const health = this.health(stance.deadlineMs)
    // States of different shares of the limits can't be read by one another.
    const local = this.local.open(spaces, `${stance.localShare}/${prefix}`)
    return new GuardedLedger(remote, local, (key) => health.of(remote.part?.(key) ?? 0), stance)
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
