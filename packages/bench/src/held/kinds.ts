import type { Charge, Keyspace, Ledger } from '@sluice/core'
import { algorithms, concurrency, reserved } from '@sluice/core/algorithms'

/** Long enough that nothing ends meanwhile, ms. */
const HOLD_MS = 3_600_000

export const VERBS = ['decide', 'renew', 'settle'] as const
export type Verb = (typeof VERBS)[number]

/** A kind of entry that a key can hold, and the operations on one of them. */
export interface Kind {
  readonly name: string
  readonly keyspace: Keyspace
  charge(slot: number): Charge
  readonly act: { readonly [verb in Verb]: (ledger: Ledger, slot: number) => unknown }
}

function kindOf(name: string, limit: Charge['limit'], ends = false): Kind {
  const charge = (slot: number) => ({ key: 'client', limit, cost: 1, claim: [slot] })
  return {
    name,
    keyspace: { name, algorithm: limit.algorithm },
    charge,
    act: {
      decide: (ledger, slot) => ledger.decide([[charge(slot)]]),
      renew: (ledger, slot) => ledger.change({ kind: 'renew', requests: [[charge(slot)]] }),
      settle: (ledger, slot) => {
        const charges = [{ ...charge(slot), cost: -1, claim: ends ? [slot, 0, 1] : [slot] }]
        return ledger.change({ kind: 'settle', charges })
      },
    },
  }
}

const month = { limit: 1e9, windowMs: 30 * 86_400_000, holdMs: HOLD_MS }

export const KINDS: readonly Kind[] = [
  kindOf('slot', concurrency.compile({ limit: 1000, windowMs: HOLD_MS })),
  kindOf('reservation', reserved(algorithms['fixed-window']).compile(month), true),
]
