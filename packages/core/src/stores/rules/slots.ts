import type { CompiledLimit, Outcome } from '../../algorithms/algorithm.ts'
import type { Charge } from '../store.ts'

/**
 * The charges that an admitted request has made: a dry run makes none that it would refuse.
 * @param policies what each policy says; none: nobody has decided
 */
export function madeOf(
  charges: readonly Charge[],
  policies: readonly { readonly allowed: boolean }[],
): readonly Charge[] {
  const isMade = ({ dryRun }: Charge, i: number) => !dryRun || policies[i]?.allowed !== false
  if (charges.every(isMade)) return charges
  return charges.map((each, i) => (isMade(each, i) ? each : { ...each, cost: 0, slot: undefined }))
}

/** Charges that give back the slots of an admitted request, and nothing of its other charges and reservations. */
export function givenBack(charges: readonly Charge[]): Charge[] {
  return charges.map((charge) => ({
    ...charge,
    cost: charge.limit.algorithm.holdsSlots && charge.slot !== undefined ? -1 : 0,
  }))
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
    const { cost, slot } = charge
    const reserved = slot === undefined ? undefined : cost
    return { ...charge, cost: -cost, reserved, remaining: outcomes[i]?.remaining }
  })
}

/** All slots of one key that are to be renewed. */
export interface Renewal {
  /** The number of the policy among those of the limiter, from 0. */
  readonly policy: number
  readonly key: string
  readonly limit: CompiledLimit
  readonly slots: number[]
}

/** The slots of some requests by policy and key, so that the state of each is written once. */
export function renewalsOf(requests: readonly (readonly Charge[])[]): Renewal[] {
  const renewals = new Map<string, Renewal>()
  for (const charges of requests) {
    for (const [policy, { key, limit, slot }] of charges.entries()) {
      if (slot === undefined) continue
      const id = `${policy} ${key}`
      const renewal = renewals.get(id) ?? { policy, key, limit, slots: [] }
      renewals.set(id, renewal)
      renewal.slots.push(slot)
    }
  }
  return [...renewals.values()]
}

export function hasSlot({ slot }: Charge): boolean {
  return slot !== undefined
}
