import type { Ledger, Space, Store } from '../store.ts'
import { GuardedLedger } from './guarded-ledger.ts'
import { LedgerRefusals } from './ledger-refusals.ts'
import { LocalCounts } from './local-counts.ts'
import { Refusals } from './refusals.ts'
import { ResilientLedger, type Stance } from './resilient-ledger.ts'
import { SplitLedger } from './split-ledger.ts'
import { StoreHealth } from './store-health.ts'

/** What limiters on one remote store share: how it is, and what this process knows by itself. */
class Resilience {
  private readonly store: Store<'async'>
  private readonly healths = new Map<number, StoreHealth>()
  private readonly local: LocalCounts
  private readonly refusals: Refusals
  private users = 0

  constructor(store: Store<'async'>) {
    this.store = store
    this.local = new LocalCounts(store.clock)
    this.refusals = new Refusals(store.clock ?? (() => performance.now()))
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
    const known = spaces.map((space) => this.refusals.space(space, prefix))
    const refusals = new LedgerRefusals(this.refusals, known, stance.refusalCache)
    if (stance.settles) refusals.settles()
    return new ResilientLedger(deciding, refusals)
  }

  join(): void {
    this.users += 1
  }

  /** Once the last one has left, nothing is kept of what was counted and remembered. */
  leave(): void {
    this.users -= 1
    if (this.users > 0) return
    this.local.clear()
    this.refusals.clear()
  }

  private guard(spaces: readonly Space[], prefix: string, stance: Stance): GuardedLedger {
    const remote = this.store.open(spaces, prefix)
    const health = this.health(stance.deadlineMs)
    // States of different shares of the limits can't be read by one another.
    const local = this.local.opener(spaces, `${stance.localShare}/${prefix}`)
    return new GuardedLedger(remote, local, (key) => health.of(remote.part?.(key) ?? 0), stance)
  }

  private health(deadlineMs: number): StoreHealth {
    const health = this.healths.get(deadlineMs) ?? new StoreHealth(deadlineMs)
    this.healths.set(deadlineMs, health)
    return health
  }
}

const resiliences = new WeakMap<Store, Resilience>()

/** A remote store for one limiter: every request is decided in time, whatever the store does. */
export class ResilientStore {
  private readonly shared: Resilience
  private readonly stance: Stance
  private closed = false

  constructor(store: Store<'async'>, stance: Stance) {
    this.shared = resiliences.get(store) ?? new Resilience(store)
    this.stance = stance
    resiliences.set(store, this.shared)
    this.shared.join()
  }

  open(spaces: readonly Space[], prefix: string): Ledger<'async'> {
    return this.shared.open(spaces, prefix, this.stance)
  }

  /** The limiter is done with it. Should it be used again, this process counts anew. */
  close(): void {
    if (this.closed) return
    this.closed = true
    this.shared.leave()
  }
}
