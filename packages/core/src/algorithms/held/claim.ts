import type { Claim } from '../algorithm.ts'

// The claim of a slot or a reservation: its number, its owner (0: nobody in particular). In a correction that ends a
// reservation also the units that it was charged; and in one that may be made again, up to two confirmed ones.

export function slotOf([slot]: Claim): number {
  return slot as number
}

/**
 * The claim with an owner, where a key is shared, as an organisation's is, and reservations are kept.
 *
 * @param owner a number that stands for the key of the request below it, 1 … 2^53 − 1. No owner has more
 *   reservations of the shared key than are free
 */
export function ownedBy(claim: Claim, owner: number): Claim {
  return [slotOf(claim), owner]
}

/** The claim of a correction that ends a reservation. @param units what it was charged: the cost corrects that */
export function ending([slot, owner = 0]: Claim, units: number): Claim {
  return [slot as number, owner, units]
}

/**
 * The claim of the same correction, where it may be made again: the store remembers it, and makes it once.
 *
 * @param confirmed up to two slots of the key whose corrections are confirmed: the store forgets these
 */
export function once([slot, owner, units]: Claim, confirmed: readonly number[]): Claim {
  const [one = 0, other = 0] = confirmed
  return [slot as number, owner as number, units as number, one, other]
}

/** The units of the reservation that a correction ends; undefined: it ends none. */
export function endedUnits(claim: Claim | undefined): number | undefined {
  return claim?.[2]
}

/** Whether the store remembers the correction. */
export function isOnce(claim: Claim | undefined): boolean {
  return claim !== undefined && claim.length > 3
}
