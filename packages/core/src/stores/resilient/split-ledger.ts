import { KeyState, type Outcome } from '../../algorithms/algorithm.ts'
import { hasSlot } from '../rules/slots.ts'
import type { Charge, DecisionSource, StoreResult } from '../store.ts'
import type { Attempt, GuardedLedger } from './guarded-ledger.ts'
import type { Learn } from './ledger-refusals.ts'

/** The policies of a request that concern one key, and so one slot of a cluster; with the first one, the ban. */
interface Share {
  readonly places: readonly number[]
  readonly ledger: GuardedLedger
}

type Part = Omit<Attempt, 'conclude'>

/**
 * Decides requests on a store that decides keys separately, such as a Redis Cluster.
 *
 * Policies of one key are one share, decided in one call, atomically. Where a request has several
 * keys (its address and its user), each share is decided where its key is, all at the same time: by
 * the store or, if that part of it fails, by its replacement. One refusal is enough: what the
 * others have granted is given back, in the background. It is weaker than one slot in two ways:
 * from a grant until it is given back, others may be refused that would have been admitted (or wait
 * longer, in a leaky bucket); and a grant stays charged if its part fails before it is given back.
 */
export class SplitLedger {
  private readonly whole: GuardedLedger
  private readonly openShare: (places: readonly number[]) => GuardedLedger
  private readonly ledgers = new Map<string, GuardedLedger>()

  /**
   * @param whole the ledger of all policies
   * @param openShare opens the ledger of some of the policies, by their numbers from 0
   */
  constructor(whole: GuardedLedger, openShare: (places: readonly number[]) => GuardedLedger) {
    this.whole = whole
    this.openShare = openShare
  }

  async consume(charges: readonly Charge[], learn: Learn): Promise<StoreResult> {
    const shares = this.sharesOf(charges)
    const [first] = shares
    if (first !== undefined && shares.length === 1) return first.ledger.consume(charges, learn)
    const attempts = await Promise.all(
      shares.map(({ ledger, places }) => ledger.attempt(pick(charges, places))),
    )
    const result = merged(charges, shares, attempts)
    for (const attempt of attempts) attempt.conclude(result.admitted)
    return learn(result)
  }

  async peek(charges: readonly Charge[]): Promise<StoreResult> {
    const shares = this.sharesOf(charges)
    const parts = shares.map(async ({ ledger, places }): Promise<Part> => {
      const own = pick(charges, places)
      const unpaid = own.map((charge) => ({ ...charge, cost: 0 }))
      const [result, { outcomes }] = await Promise.all([ledger.peek(own), ledger.peek(unpaid)])
      return { result, uncharged: outcomes }
    })
    return merged(charges, shares, await Promise.all(parts))
  }

  async settle(
    charges: readonly Charge[],
    chargedAt?: number,
    source?: DecisionSource,
  ): Promise<void> {
    const settled = this.sharesOf(charges).map(async ({ ledger, places }) => {
      const own = pick(charges, places)
      if (own.some(({ cost }) => cost !== 0)) await ledger.settle(own, chargedAt, source)
    })
    await Promise.all(settled)
  }

  /** One call for each key, all at the same time. */
  async renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    const calls = new Map<string, { ledger: GuardedLedger; requests: Charge[][] }>()
    for (const charges of requests) {
      for (const { places, ledger } of this.sharesOf(charges)) {
        const own = pick(charges, places)
        if (!own.some(hasSlot)) continue
        const id = `${places} ${own[0]?.key}`
        const call = calls.get(id) ?? { ledger, requests: [] }
        calls.set(id, call)
        call.requests.push(own)
      }
    }
    await Promise.all([...calls.values()].map((call) => call.ledger.renew(call.requests)))
  }

  block(key: string, durationMs: number): Promise<void> {
    return this.whole.block(key, durationMs)
  }

  reset(key: string): Promise<void> {
    return this.whole.reset(key)
  }

  /** Whether all parts of the store would be called. */
  isTrusted(charges: readonly Charge[]): boolean {
    const shares = this.sharesOf(charges)
    return shares.every(({ ledger, places }) => ledger.isTrusted(pick(charges, places)))
  }

  private sharesOf(charges: readonly Charge[]): Share[] {
    const byKey = new Map<string, number[]>()
    charges.forEach(({ key }, place) => {
      const places = byKey.get(key)
      if (places === undefined) byKey.set(key, [place])
      else places.push(place)
    })
    return [...byKey.values()].map((places) => {
      const ledger = byKey.size === 1 ? this.whole : this.ledgerOf(places)
      return { places, ledger }
    })
  }

  private ledgerOf(places: readonly number[]): GuardedLedger {
    const known = this.ledgers.get(`${places}`)
    if (known !== undefined) return known
    const ledger = this.openShare(places)
    this.ledgers.set(`${places}`, ledger)
    return ledger
  }
}

function pick<T>(items: readonly T[], places: readonly number[]): T[] {
  return places.map((place) => items[place] as T)
}

function merged(
  charges: readonly Charge[],
  shares: readonly Share[],
  parts: readonly Part[],
): StoreResult {
  const results = parts.map(({ result }) => result)
  const admitted = results.every((result) => result.admitted)
  const at = Math.max(...results.map((result) => result.at))
  const source = sourceOf(results, admitted)
  const deciding = results.filter((result) => result.admitted === admitted)
  if (deciding.every(({ outcomes }) => outcomes.length === 0)) {
    return { admitted, at, source, outcomes: [] }
  }
  const outcomes: Outcome[] = []
  const origins: { at: number; source: DecisionSource }[] = []
  parts.forEach(({ result, uncharged }, i) => {
    const shown = result.admitted && !admitted ? uncharged : result.outcomes
    shares[i]?.places.forEach((place, j) => {
      outcomes[place] = shown[j] ?? unasked(result, charges[place] as Charge)
      origins[place] = { at: result.at, source: result.source }
    })
  })
  // The first share is that of the first charge.
  return { admitted, at, source, outcomes, ban: results[0]?.ban, origins }
}

/**
 * The source of a decision. A refusal: who refused, a limit if any did. Otherwise the store, or the
 * replacement of a part.
 */
function sourceOf(results: readonly StoreResult[], admitted: boolean): DecisionSource {
  const sources = results
    .filter((result) => result.admitted === admitted)
    .map(({ source }) => source)
  const common = admitted ? 'store' : 'deny'
  return sources.find((source) => source !== common) ?? common
}

/** The outcome of a policy that could not be read: whole if all pass, with nothing left if none does. */
function unasked({ admitted, at }: StoreResult, { limit }: Charge): Outcome {
  if (!admitted)
    return { admitted, remaining: 0, resetMs: 0, retryAfterMs: 0, effectiveMs: 0, delayMs: 0 }
  const state = new KeyState()
  limit.decide(state, at, 0)
  const { remaining, resetMs, effectiveMs, delayMs } = state
  return { admitted, remaining, resetMs, retryAfterMs: 0, effectiveMs, delayMs }
}
