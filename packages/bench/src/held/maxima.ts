import type { Charge, Ledger, Store } from '@sluice/core'
import { algorithms, concurrency, reserved } from '@sluice/core/algorithms'
import { type ManualClock, manualClock } from '@sluice/core/testing'

/** How long slots and reservations are held, and the window of the log. */
const HOLD_MS = 100_000

const SLOTS = concurrency.compile({ limit: 1000, windowMs: HOLD_MS })
const LOG = algorithms['sliding-log'].compile({ limit: 10_000, windowMs: HOLD_MS })
const DAY = { limit: 1e9, windowMs: 86_400_000, holdMs: HOLD_MS }
const RESERVATIONS = reserved(algorithms['fixed-window']).compile(DAY)

/** One key that holds as much as it can, and a call about it. */
export interface Maximum {
  readonly what: string
  readonly limit: Charge['limit']
  readonly count: number
  /** How the clock moves before the call, ms. */
  readonly pass?: number
  act(ledger: Ledger, charge: (slot: number, more?: Partial<Charge>) => Charge, at: number): unknown
}

const decide: Maximum['act'] = (ledger, charge) => ledger.decide([[charge(0)]])
const settleAt = (share: number, cost: number): Maximum['act'] => {
  return (ledger, charge, at) => {
    const chargedAt = at - Math.floor(share * LOG.units)
    const charges = [charge(0, { cost, claim: undefined })]
    return ledger.change({ kind: 'settle', charges, chargedAt })
  }
}

const ended = (charge: Charge): Charge => {
  return { ...charge, cost: -1, claim: charge.claim && [...charge.claim, 1] }
}

const HELD = { slot: SLOTS, reservation: RESERVATIONS }
const ofHeld = Object.entries(HELD).flatMap(([name, limit]): Maximum[] => {
  const count = name === 'slot' ? 999 : 1998
  return [
    { what: `decide: one more ${name}`, limit, count, act: decide },
    {
      what: `settle: one ${name}`,
      limit,
      count,
      act: (ledger, charge) => ledger.change({ kind: 'settle', charges: [ended(charge(500))] }),
    },
    {
      what: `renew: 100 of the ${name}s`,
      limit,
      count,
      act(ledger, charge) {
        const requests = Array.from({ length: 100 }, (_, i) => [charge(1 + i)])
        return ledger.change({ kind: 'renew', requests })
      },
    },
    { what: `decide: all ${name}s have ended`, limit, count, pass: HOLD_MS + count, act: decide },
    {
      what: `decide: the clock steps back behind all ${name}s`,
      limit,
      count,
      pass: -9000,
      act: decide,
    },
  ]
})

export const MAXIMA: readonly Maximum[] = [
  ...ofHeld,
  { what: 'decide: the last of the log', limit: LOG, count: 9999, act: decide },
  { what: 'decide: refused by the full log', limit: LOG, count: 10_000, act: decide },
  {
    what: 'peek: the whole of the full log',
    limit: LOG,
    count: 10_000,
    act: (ledger, charge) => ledger.decide([[charge(0, { cost: 10_000 })]], true),
  },
  {
    what: 'settle: one unit in the middle of the log',
    limit: LOG,
    count: 9999,
    act: settleAt(0.5, 1),
  },
  {
    what: 'settle: all of the log is given back',
    limit: LOG,
    count: 9999,
    act: settleAt(0, -9999),
  },
  {
    what: 'decide: all but one of the log have left',
    limit: LOG,
    count: 9999,
    pass: HOLD_MS - 1,
    act: decide,
  },
  {
    what: 'decide: the clock steps back behind the log',
    limit: LOG,
    count: 9999,
    pass: -90_000,
    act: decide,
  },
]

let prefixes = 0

/** Fills a key, and does the call. @param measure says what the call costs, µs */
export async function costOf(
  { limit, count, pass = 0, act }: Maximum,
  open: (clock: ManualClock) => Store,
  measure: (act: () => Promise<void>) => Promise<number>,
): Promise<number> {
  prefixes += 1
  const clock = manualClock(1_800_000_000_000)
  const store = open(clock)
  const { algorithm } = limit
  const keyspace = { name: algorithm.name, algorithm }
  const ledger: Ledger = store.open([keyspace], `maxima-${prefixes}`, 60_000)
  const charge = (slot: number, more: Partial<Charge> = {}): Charge => {
    // Numbers as a process chooses them, and an owner for each.
    return {
      key: 'client',
      limit,
      cost: 1,
      claim: [2 ** 52 + slot * 7919, 2 ** 52 + slot * 104729],
      ...more,
    }
  }
  for (let slot = 1; slot <= count; slot += 1) {
    clock.advance(1)
    await ledger.decide([[charge(slot)]])
  }
  clock.advance(pass)
  const micros = await measure(async () => {
    await act(ledger, charge, clock())
  })
  store.close()
  return micros
}
