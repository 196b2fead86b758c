import type { Claim, CompiledLimit, Outcome } from '../../algorithms/algorithm.ts'
import { ending } from '../../algorithms/held/claim.ts'
import { madeOnce } from '../../made-once.ts'
import type { Charge, Requests } from '../store.ts'

/**
 * The charges that an admitted request has made: a limit that refuses nothing makes none that it would refuse.
 * @param policies what each policy says; none: nobody has decided
 */
export function madeOf(
  charges: readonly Charge[],
  policies: readonly { readonly allowed: boolean }[],
): readonly Charge[] {
  const isMade = ({ limit }: Charge, i: number) => limit.refuses || policies[i]?.allowed !== false
  if (charges.every(isMade)) return charges
  return charges.map((each, i) => (isMade(each, i) ? each : { ...each, cost: 0, claim: undefined }))
}

/** Charges that give back the slots of an admitted request, and nothing of its other charges and reservations. */
export function givenBack(charges: readonly Charge[]): Charge[] {
  return charges.map((charge) => {
    const { claim, limit } = charge
    const isSlot = limit.algorithm.holdsSlots && claim !== undefined
    return isSlot ? { ...charge, cost: -1 } : { ...charge, cost: 0, claim: undefined }
  })
}

/**
 * Charges that undo an admitted request: its charges are given back, and their slots and reservations end.
 *
 * @param outcomes the outcomes of the charges. Left out: `ChargeLimiter.correct` adds the remaining units
 */
export function undone(
  charges: readonly Charge[],
  outcomes: readonly Pick<Outcome, 'remaining'>[] = [],
): Charge[] {
  return charges.map((charge, i) => {
    const { cost, claim } = charge
    const reversed = { ...charge, cost: -cost, claim: claim && ending(claim, cost) }
    return placed(reversed, outcomes[i]?.remaining)
  })
}

/** A correction of a charge that left so many units. Undefined: that is not known */
export function placed(charge: Charge, remaining: number | undefined): Charge {
  const { placeOf } = charge.limit
  if (placeOf === undefined || remaining === undefined || charge.cost >= 0) return charge
  return { ...charge, claim: placeOf(remaining) }
}

/** All that is claimed of one key, to be renewed. */
export interface Renewal {
  /** The number of the policy among those of the limiter, from 0. */
  readonly policy: number
  readonly key: string
  readonly limit: CompiledLimit
  readonly claims: Claim[]
}

/** What some requests claim by policy and key, so that the state of each is written once. */
export function renewalsOf(requests: Requests): Renewal[] {
  const renewals = new Map<string, Renewal>()
  for (const charges of requests) {
    for (const [policy, { key, limit, claim }] of charges.entries()) {
      if (claim === undefined) continue
      const id = `${policy} ${key}`
      madeOnce(renewals, id, () => ({ policy, key, limit, claims: [] })).claims.push(claim)
    }
  }
  return [...renewals.values()]
}

export function hasClaim({ claim }: Charge): boolean {
  return claim !== undefined
}
