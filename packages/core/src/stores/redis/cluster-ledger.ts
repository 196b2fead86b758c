import slotOf from 'cluster-key-slot'
import type { Outcome } from '../../algorithms/algorithm.ts'
import type { Charge, Ledger, Ruling } from '../store.ts'
import { subject } from './keys.ts'
import type { RedisLedger } from './redis-ledger.ts'

/** A slot has 14 bits: the first four tell the part. */
const PART_SHIFT = 10

/** The policies of a request that concern one subject, and so one slot. */
interface Share {
  readonly key: string
  readonly places: readonly number[]
}

/**
 * The ledger of a Redis Cluster, where each subject's states are in a slot of their own.
 *
 * Policies of one subject are decided in one call, atomically. Where a request has several subjects
 * (its address and its user), each is decided in its own slot, all at the same time; if one
 * refuses, or fails, what the others have granted is given back. It is weaker than one slot in this:
 * from a grant until it is given back, others may be refused who would have been admitted (or wait
 * longer, in a leaky bucket), and a grant that can't be given back, since its node fails, stays
 * charged. No policy admits more than its limit; a bucket may, in any interval, by what refills
 * between a grant and its return, since what has drained by then is given back too.
 */
export class ClusterLedger implements Ledger<'async'> {
  private readonly slots: RedisLedger

  constructor(slots: RedisLedger) {
    this.slots = slots
  }

  consume(charges: readonly Charge[]): Promise<Ruling> {
    const shares = sharesOf(charges.map(({ key }) => key))
    if (shares.length > 1) return this.consumeApart(shares, charges)
    return this.slots.consume(charges, undefined, routeOf(shares[0] as Share))
  }

  async peek(charges: readonly Charge[]): Promise<Ruling> {
    const shares = sharesOf(charges.map(({ key }) => key))
    const uncharged = charges.map((charge) => ({ ...charge, cost: 0 }))
    const peek = (share: Share) => this.slots.peek(pick(charges, share), share.places)
    const standing = (share: Share) => this.slots.peek(pick(uncharged, share), share.places)
    return merged(shares, await Promise.all(shares.map(peek)), standing)
  }

  async settle(charges: readonly Charge[], chargedAt?: number): Promise<void> {
    const shares = sharesOf(charges.map(({ key }) => key))
    await Promise.all(
      shares.map((share) => this.slots.correct(pick(charges, share), chargedAt, share.places)),
    )
  }

  async block(keys: readonly string[], durationMs: number): Promise<void> {
    const block = (share: Share) => this.slots.block(pick(keys, share), durationMs, share.places)
    await Promise.all(sharesOf(keys).map(block))
  }

  async reset(keys: readonly string[]): Promise<void> {
    const reset = (share: Share) => this.slots.reset(pick(keys, share), share.places)
    await Promise.all(sharesOf(keys).map(reset))
  }

  part(key: string): number {
    return slotOf(subject(key)) >> PART_SHIFT
  }

  private async consumeApart(shares: readonly Share[], charges: readonly Charge[]) {
    const asked = shares.map((share) =>
      this.slots.consume(pick(charges, share), share.places, routeOf(share)),
    )
    // Made now: the caller may use the charges again.
    const back = charges.map((charge) => ({ ...charge, cost: -charge.cost }))
    const giveBack = (share: Share, { at }: Ruling) =>
      this.slots.correct(pick(back, share), at, share.places)
    let rulings: readonly Ruling[]
    try {
      rulings = await Promise.all(asked)
    } catch (error) {
      shares.forEach((share, i) => {
        const returned = asked[i]?.then((ruling) => {
          return ruling.admitted ? giveBack(share, ruling) : ruling
        })
        returned?.catch(() => {})
      })
      throw error
    }
    return merged(shares, rulings, giveBack)
  }
}

/** @param standing how a share stands that was admitted, while another was refused */
async function merged(
  shares: readonly Share[],
  rulings: readonly Ruling[],
  standing: (share: Share, ruling: Ruling) => Promise<Ruling>,
): Promise<Ruling> {
  const admitted = rulings.every((ruling) => ruling.admitted)
  const shown = await Promise.all(
    rulings.map((ruling, i) =>
      ruling.admitted && !admitted ? standing(shares[i] as Share, ruling) : ruling,
    ),
  )
  const outcomes: Outcome[] = []
  shown.forEach((ruling, i) => {
    shares[i]?.places.forEach((place, j) => {
      outcomes[place] = ruling.outcomes[j] as Outcome
    })
  })
  return { admitted, at: Math.max(...shown.map(({ at }) => at)), source: 'store', outcomes }
}

function sharesOf(keys: readonly string[]): Share[] {
  const places = new Map<string, number[]>()
  keys.forEach((key, place) => {
    const share = places.get(key)
    if (share === undefined) places.set(key, [place])
    else share.push(place)
  })
  return [...places].map(([key, places]) => ({ key, places }))
}

/** Requests for the same policies of the same subject share a call. */
function routeOf({ key, places }: Share): string {
  return `${places} ${key}`
}

function pick<T>(items: readonly T[], { places }: Share): T[] {
  return places.map((place) => items[place] as T)
}
