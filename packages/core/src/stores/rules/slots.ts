import type { Charge } from '../store.ts'

/** What gives back the slots of an admitted request, and leaves its other charges as they are. */
export function givenBack(charges: readonly Charge[]): Charge[] {
  return charges.map((charge) => ({ ...charge, cost: charge.slot === undefined ? 0 : -1 }))
}

/** What holds the slots of an admitted request anew, and leaves its other charges as they are. */
export function heldAnew(charges: readonly Charge[]): Charge[] {
  return charges.map((charge) => ({ ...charge, cost: charge.slot === undefined ? 0 : 1 }))
}

export function hasSlot({ slot }: Charge): boolean {
  return slot !== undefined
}
