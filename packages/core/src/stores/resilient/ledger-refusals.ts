import type { CompiledLimit, Outcome } from '../../algorithms/algorithm.ts'
import { withBan } from '../rules/decide-all.ts'
import type { Charge, Keyspaces, StoreResult } from '../store.ts'
import type { Refusal, RefusalCache, RefusalSpace } from './refusal-cache.ts'

/** The longest time without asking the store again, ms: then a reset by another process is seen. */
const ASK_AGAIN_MS = 10_000

/** Learns from the store's result, which it returns. */
export type Learn = (result: StoreResult) => StoreResult

/**
 * The remembered refusals for the policies of one ledger. They answer a request only if the answer
 * is exactly that of the store: for costs of at most one unit, and if every policy is known to have
 * nothing left, or the client is known to be banned. If a policy has something left, only the store knows `remaining`.
 */
export class LedgerRefusals {
  private readonly shared: RefusalCache
  /** The spaces of the policies, then that of the ban. */
  private readonly spaces: readonly RefusalSpace[]
  private readonly ban: CompiledLimit | undefined
  private readonly wanted: boolean | undefined

  /** @param wanted undefined: only if nothing in this process settles */
  constructor(
    shared: RefusalCache,
    { policies, ban }: Keyspaces,
    prefix: string,
    wanted: boolean | undefined,
  ) {
    this.shared = shared
    this.spaces = policies.concat(ban ?? []).map((keyspace) => shared.space(keyspace, prefix))
    this.ban = ban?.limit
    this.wanted = wanted
  }

  /**
   * The refusal that holds for these charges, as of now. A ban that has not begun counts refusals in
   * the store, so as long as the store works, it is asked: the ban itself limits how often.
   * @param store what can be asked instead
   */
  find(
    charges: readonly Charge[],
    store: { isTrusted(charges: readonly Charge[]): boolean },
  ): StoreResult | undefined {
    if (this.shared.isEmpty) return undefined
    const now = this.shared.clock()
    const all = withBan(charges, this.ban)
    const banned = this.ban && this.known(all, charges.length, now, store)
    if (this.ban !== undefined && !banned && store.isTrusted(charges)) return undefined
    const found: (Refusal | undefined)[] = []
    for (let i = 0; i < charges.length; i += 1) {
      const { key, cost, slot } = charges[i] as Charge
      // A slot may be given back at any time.
      if (cost > 1 || slot !== undefined || !this.isOn(this.spaces[i] as RefusalSpace))
        return undefined
      const refusal = this.known(all, i, now, store)
      // A ban refuses whatever is left.
      if (refusal === undefined && (!banned || key !== charges[0]?.key)) return undefined
      found.push(refusal)
    }
    return toStoreResult(found, banned, now)
  }

  /** What is remembered of one charge, if the store would say the same. */
  private known(
    charges: readonly Charge[],
    i: number,
    now: number,
    store: { isTrusted(charges: readonly Charge[]): boolean },
  ): Refusal | undefined {
    const { key, limit } = charges[i] as Charge
    const refusal = this.shared.get(this.spaces[i] as RefusalSpace, key)
    if (refusal === undefined || !areSame(limit, refusal.limit)) return undefined
    if (now >= refusal.until || (now >= refusal.askAgainAt && store.isTrusted(charges)))
      return undefined
    return refusal
  }

  /** Call it when the store is called. */
  learner(charges: readonly Charge[]): Learn {
    const askedAt = this.shared.clock()
    const ends = this.ends()
    const all = this.ban === undefined ? charges : withBan(charges, this.ban)
    return (result) => {
      const { outcomes, ban, origins } = result
      // If keys are decided separately, what one has granted is given back when another refuses.
      if (origins !== undefined) this.settles()
      // A refusal that has ended since may be this one.
      const holds = ends === this.ends()
      for (let i = 0; i < outcomes.length + (ban === undefined ? 0 : 1); i += 1) {
        const { key, limit, cost, slot } = all[i] as Charge
        const { at, source } = origins?.[i < charges.length ? i : 0] ?? result
        const keyspace = this.spaces[i] as RefusalSpace
        const outcome = (outcomes[i] ?? ban) as Outcome
        if (source !== 'store' || slot !== undefined) continue
        if (outcome.admitted || outcome.remaining > 0) {
          if (!this.shared.isEmpty) this.shared.delete(keyspace, key)
        } else if (cost <= 1 && holds && this.isOn(keyspace) && outcome.retryAfterMs !== Infinity) {
          this.shared.set(
            keyspace,
            key,
            toRefusal(limit, outcome, at, askedAt, this.shared.clock()),
          )
        }
      }
      return result
    }
  }

  /**
   * Runs an operation that changes the keys' quotas. Before and after it, forgets their remembered
   * refusals and those in progress, which may no longer hold.
   */
  async ending(keys: readonly string[], act: () => Promise<void>): Promise<void> {
    this.end(keys)
    try {
      await act()
    } finally {
      this.end(keys)
    }
  }

  /** Call it if something settles: then other processes may give units back at any time. */
  settles(): void {
    for (const space of this.spaces) space.settles = true
  }

  private end(keys: readonly string[]): void {
    for (const space of this.spaces) {
      space.ends += 1
      for (const key of keys) this.shared.delete(space, key)
    }
  }

  private isOn({ settles }: RefusalSpace): boolean {
    return this.wanted ?? !settles
  }

  private ends(): number {
    let ends = 0
    for (let i = 0; i < this.spaces.length; i += 1) ends += (this.spaces[i] as RefusalSpace).ends
    return ends
  }
}

function toRefusal(
  limit: CompiledLimit,
  { retryAfterMs, resetMs }: Outcome,
  at: number,
  askedAt: number,
  receivedAt: number,
): Refusal {
  const until = askedAt + retryAfterMs
  const askAgainAt = Math.min(until, askedAt + ASK_AGAIN_MS)
  return { limit, until, askAgainAt, receivedAt, at, retryAfterMs, resetMs }
}

/** How a policy with something left is shown beside a ban. */
const OPEN: Outcome = {
  admitted: true,
  remaining: 0,
  resetMs: 0,
  retryAfterMs: 0,
  effectiveMs: 0,
  delayMs: 0,
}

function toStoreResult(
  refusals: readonly (Refusal | undefined)[],
  banned: Refusal | undefined,
  now: number,
): StoreResult {
  let latest = 0
  const outcomeOf = (refusal: Refusal | undefined): Outcome => {
    if (refusal === undefined) return OPEN
    const { receivedAt, at, retryAfterMs, resetMs } = refusal
    const elapsedMs = Math.floor(now - receivedAt)
    latest = Math.max(latest, at + elapsedMs)
    return {
      admitted: false,
      remaining: 0,
      resetMs: Math.max(0, resetMs - elapsedMs),
      retryAfterMs: retryAfterMs - elapsedMs,
      effectiveMs: retryAfterMs - elapsedMs,
      delayMs: 0,
    }
  }
  const outcomes = refusals.map(outcomeOf)
  const ban = banned && outcomeOf(banned)
  return { admitted: false, at: latest, source: 'cache', outcomes, ban }
}

/** Limits that are functions, and bursts, differ within one keyspace. */
function areSame(a: CompiledLimit, b: CompiledLimit): boolean {
  if (a === b) return true
  const now = Date.now()
  const others = b.constants(now)
  const constants = a.constants(now)
  return constants.length === others.length && constants.every((n, i) => n === others[i])
}
