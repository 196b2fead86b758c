import { areSame, type CompiledLimit, type Outcome } from '../../algorithms/algorithm.ts'
import { bounded, copied } from '../../key/digest.ts'
import { madeOnce } from '../../made-once.ts'
import { isOnRefusal } from '../rules/decide-all.ts'
import type { Charge, Keyspace, StoreResult } from '../store.ts'

/** The longest time without asking the store again, ms: then changes of other processes are seen. */
const MAX_REMEMBERED_MS = 2000
/** The most keys with remembered refusals, over all limiters on a store. */
const MAX_KEYS = 10_000

/**
 * A key has less than one unit left, under a limit; or it has more, and what counts refusals bars it. Times are on `RefusalCache.clock`,
 * ms.
 */
export interface RememberedRefusal {
  /** Whether the limit has refused, and not alone what counts refusals. */
  readonly isOfLimit: boolean
  readonly limit: CompiledLimit
  /** The client's own limit, if that has decided. */
  readonly own: Outcome['own']
  /** How long nothing of it changes by itself, but for the waits, which become shorter: ms from `at` on. */
  readonly validMs: number
  /** When the store was called: the end of the wait is counted from here, so that it is never too late. */
  readonly askedAt: number
  /** When the answer came: waits are counted from here, so that they are never too short. */
  readonly receivedAt: number
  /** The moment of the store's decision. */
  readonly at: number
  readonly retryAfterMs: number
  readonly resetMs: number
}

/** The keys of one policy, for all limiters of this process that share them. */
interface RefusalSpace {
  readonly number: number
  /** Whether anything in this process settles their charges. */
  settles: boolean
  /** The number of the last operation that may have ended a remembered refusal of one of them. */
  endedBy: number
}

/** Learns from the store's result, which it returns. */
export type Learn = (result: StoreResult) => StoreResult

/**
 * The remembered refusals for the policies of one ledger. They answer a request only if the answer
 * is exactly that of the store: for costs of at most one unit, and if every policy is known to have
 * nothing left. If a policy has something left, only the store knows `remaining`; unless what counts refusals is known
 * to refuse the client, which leaves it nothing. Then every policy of its key must be known to have something left, or nothing.
 */
export class LedgerRefusals {
  readonly #shared: RefusalCache
  readonly #spaces: readonly RefusalSpace[]
  /** The place of what counts refusals, which is the last one; -1: there is none. */
  readonly #counting: number
  readonly #wanted: boolean | undefined
  readonly #rememberedMs: number

  /**
   * @param wanted undefined: only if nothing in this process settles
   * @param rememberedMs how long without asking the store again at most, ms
   */
  constructor(
    shared: RefusalCache,
    keyspaces: readonly Keyspace[],
    prefix: string,
    wanted: boolean | undefined,
    rememberedMs = MAX_REMEMBERED_MS,
  ) {
    this.#shared = shared
    this.#spaces = keyspaces.map((keyspace) => shared.space(keyspace, prefix))
    this.#counting = keyspaces.findIndex(isOnRefusal)
    this.#wanted = wanted
    this.#rememberedMs = Math.min(rememberedMs, MAX_REMEMBERED_MS)
  }

  /**
   * The refusal that holds for these charges, as of now. What counts refusals counts them in the store, so as long as
   * the store works and nothing is barred, it is asked: how often, the bar itself limits.
   * @param store what can be asked instead
   */
  find(
    charges: readonly Charge[],
    store: { isTrusted(charges: readonly Charge[]): boolean },
  ): StoreResult | undefined {
    if (this.#shared.refusals.size === 0) return undefined
    const counting = this.#counting
    const policies = counting < 0 ? charges.length : counting
    const now = this.#shared.clock()
    const bar = counting < 0 ? undefined : this.#known(charges, counting, now, store)
    if (counting >= 0 && bar === undefined && store.isTrusted(charges)) return undefined
    const found: (RememberedRefusal | undefined)[] = []
    let refuses = false
    for (let i = 0; i < policies; i += 1) {
      const { key, limit, cost, claim } = charges[i] as Charge
      refuses ||= limit.refuses
      // What is claimed may come back at any time.
      if (cost > 1 || claim !== undefined || !this.#isOn(this.#spaces[i] as RefusalSpace))
        return undefined
      const refusal = this.#known(charges, i, now, store)
      // A bar refuses whatever is left. While the store fails, it refuses whatever is not known.
      const isBarred = bar !== undefined && key === charges[0]?.key
      if (
        refusal === undefined
          ? !isBarred || store.isTrusted(charges)
          : !refusal.isOfLimit && !isBarred
      )
        return undefined
      found.push(refusal)
    }
    if (!refuses) return undefined
    return toStoreResult(bar === undefined ? found : [...found, bar], now)
  }

  /** Returns the remembered refusal of one charge, if the store would refuse it too. */
  #known(
    charges: readonly Charge[],
    i: number,
    now: number,
    store: { isTrusted(charges: readonly Charge[]): boolean },
  ): RememberedRefusal | undefined {
    const { key, limit } = charges[i] as Charge
    const refusal = this.#shared.get(this.#spaces[i] as RefusalSpace, key)
    if (refusal === undefined || !areSame(limit, refusal.limit)) return undefined
    const elapsedMs = now - refusal.askedAt
    // The store's clock counts whole milliseconds: its waits may end almost one earlier.
    if (elapsedMs > refusal.validMs - 1) return undefined
    return elapsedMs >= this.#rememberedMs && store.isTrusted(charges) ? undefined : refusal
  }

  /** Called when the store is called. The function that it returns learns from the result, and returns that. */
  learner(charges: readonly Charge[]): Learn {
    const askedAt = this.#shared.clock()
    const { ends } = this.#shared
    const counting = this.#counting
    return (result) => {
      const { outcomes, origins } = result
      // If keys are decided separately, what one has granted is given back when another refuses.
      if (origins !== undefined) this.settles()
      const isBarred = outcomes[counting]?.admitted === false
      for (const [i, outcome] of outcomes.entries()) {
        const { key, limit, cost, claim } = charges[i] as Charge
        const { at, source } = origins?.[i] ?? result
        const keyspace = this.#spaces[i] as RefusalSpace
        if (source !== 'store' || claim !== undefined) continue
        // A refusal that has ended since may be this one.
        const holds = keyspace.endedBy <= ends
        const isOfLimit = !outcome.admitted && outcome.remaining === 0
        const isKnown = isOfLimit ? cost <= 1 : isBarred
        if (isKnown && holds && this.#isOn(keyspace)) {
          const { retryAfterMs, resetMs, own } = outcome
          const validMs = validFor(outcome, isOfLimit)
          const receivedAt = this.#shared.clock()
          const times = { askedAt, receivedAt, at, retryAfterMs, resetMs, validMs }
          this.#shared.set(keyspace, key, { isOfLimit, limit, own, ...times })
        } else if (this.#shared.refusals.size > 0) {
          const { isOfLimit: wasOfLimit } = this.#shared.get(keyspace, key) ?? {}
          if (wasOfLimit !== isOfLimit) this.#shared.delete(keyspace, key)
        }
      }
      return result
    }
  }

  /**
   * Runs an operation that changes the keys' quotas. Before and after it, forgets their remembered
   * refusals and those in progress, which may no longer hold.
   *
   * @param where whether the refusals of this ledger's policies are meant, or those of all
   */
  async ending<T>(
    keys: readonly string[],
    where: 'here' | 'everywhere',
    act: () => Promise<T>,
  ): Promise<T> {
    this.#end(keys, where)
    try {
      return await act()
    } finally {
      this.#end(keys, where)
    }
  }

  /** Call it if something settles: then other processes may give units back at any time. */
  settles(): void {
    for (const space of this.#spaces) space.settles = true
  }

  #end(keys: readonly string[], where: 'here' | 'everywhere'): void {
    this.#shared.ends += 1
    for (const space of where === 'here' ? this.#spaces : this.#shared.keyspaces.values()) {
      space.endedBy = this.#shared.ends
      for (const key of keys) this.#shared.delete(space, key)
    }
  }

  #isOn({ settles }: RefusalSpace): boolean {
    return this.#wanted ?? !settles
  }
}

/** How long an outcome does not change by itself, but for its waits, ms. */
function validFor({ retryAfterMs, resetMs, own, ownMs }: Outcome, isOfLimit: boolean): number {
  const untilOwn = own === undefined ? Infinity : (ownMs as number)
  // A client's quota behind a bar is not shown.
  if (!isOfLimit) return untilOwn
  return Math.min(untilOwn, retryAfterMs, resetMs === 0 ? Infinity : resetMs)
}

/** How a policy with something left is shown beside a bar. */
const OPEN: Outcome = {
  admitted: true,
  remaining: 0,
  resetMs: 0,
  retryAfterMs: 0,
  effectiveMs: 0,
  delayMs: 0,
}

function toStoreResult(
  refusals: readonly (RememberedRefusal | undefined)[],
  now: number,
): StoreResult {
  let latest = 0
  const outcomeOf = (refusal: RememberedRefusal | undefined): Outcome => {
    if (refusal === undefined) return OPEN
    const { receivedAt, at, retryAfterMs, resetMs, own } = refusal
    if (!refusal.isOfLimit) return { ...OPEN, own }
    const elapsedMs = Math.floor(now - receivedAt)
    latest = Math.max(latest, at + elapsedMs)
    return {
      admitted: false,
      remaining: 0,
      resetMs: Math.max(0, resetMs - elapsedMs),
      retryAfterMs: retryAfterMs - elapsedMs,
      effectiveMs: retryAfterMs - elapsedMs,
      delayMs: 0,
      own,
    }
  }
  const outcomes = refusals.map(outcomeOf)
  return { admitted: false, at: latest, source: 'cache', outcomes }
}

/** The keys that have nothing left, as limiters of this process on one store have learned. */
export class RefusalCache {
  /** ms; monotonic, unless it is a test's. */
  readonly clock: () => number
  /** Counts operations that may have ended remembered refusals. */
  ends = 0
  readonly keyspaces = new Map<string, RefusalSpace>()
  /** The remembered refusals by space and key, the oldest first. */
  readonly refusals = new Map<string, RememberedRefusal>()

  /** @param clock see `Store.clock` */
  constructor(clock: (() => number) | undefined) {
    this.clock = clock ?? (() => performance.now())
  }

  space(keyspace: Keyspace, prefix: string): RefusalSpace {
    const id = `${keyspace.prefix ?? prefix}\n${keyspace.name}`
    const number = this.keyspaces.size
    return madeOnce(this.keyspaces, id, () => ({ number, settles: false, endedBy: 0 }))
  }

  get(keyspace: RefusalSpace, key: string): RememberedRefusal | undefined {
    return this.refusals.get(idOf(keyspace, key))
  }

  set(keyspace: RefusalSpace, key: string, refusal: RememberedRefusal): void {
    const id = idOf(keyspace, key)
    this.refusals.delete(id)
    if (this.refusals.size === MAX_KEYS) {
      const [oldest] = this.refusals.keys()
      this.refusals.delete(oldest as string)
    }
    this.refusals.set(copied(id), refusal)
  }

  delete(keyspace: RefusalSpace, key: string): void {
    this.refusals.delete(idOf(keyspace, key))
  }

  /** Results of calls in progress are not kept either. */
  clear(): void {
    this.ends += 1
    for (const keyspace of this.keyspaces.values()) keyspace.endedBy = this.ends
    this.refusals.clear()
  }
}

/** The id of a refusal, of bounded length whatever the key. */
function idOf({ number }: RefusalSpace, key: string): string {
  return `${number} ${bounded(key)}`
}
