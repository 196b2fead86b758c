import type { Charge, Ledger, Store } from '@sluice/core'
import { algorithms, concurrency, reserved } from '@sluice/core/algorithms'
import { type ManualClock, manualClock } from '@sluice/core/testing'

/** How long slots and reservations are held, and the window of the log. */
const HOLD_MS = 100_000

const LOG = algorithms['sliding-log'].compile({ limit: 10_000, windowMs: HOLD_MS })
const DAY = { limit: 1e9, windowMs: 86_400_000, holdMs: HOLD_MS }
/** What a key can hold, and the most but one. */
const HELD = {
  slot: { limit: concurrency.compile({ limit: 1000, windowMs: HOLD_MS }), most: 999 },
  reservation: { limit: reserved(algorithms['fixed-window']).compile(DAY), most: 1998 },
}

/** A charge of the key that is an entry of its own. */
type ChargeOf = (entry: number, more?: Partial<Charge>) => Charge

/** One key that holds entries, and calls about it. */
export interface Case {
  readonly what: string
  readonly limit: Charge['limit']
  /** The number of entries, from 1 on. */
  readonly count: number
  /** How the clock moves before the calls, ms. */
  readonly pass?: number
  /** How many calls are measured together. Default: 1. */
  readonly calls?: number
  /** Makes a call. @param i the number of the call, from 1 on */
  act(ledger: Ledger, charge: ChargeOf, i: number, at: number): unknown
}

const CALLS = 50

const decide: Case['act'] = (ledger, charge) => ledger.decide([[charge(0)]])
const settle = (ledger: Ledger, charge: Charge) =>
  ledger.change({ kind: 'settle', charges: [charge] })
const ended = (charge: Charge): Charge => {
  return { ...charge, cost: -1, claim: charge.claim && [...charge.claim, 1] }
}
const renew = (ledger: Ledger, charges: readonly Charge[]) =>
  ledger.change({ kind: 'renew', requests: charges.map((charge) => [charge]) })

/** What a call costs beside so many entries. */
function beside(name: string, limit: Charge['limit'], count: number): Case[] {
  const what = (verb: string) => `${verb} a ${name} beside ${count}`
  const all = count + CALLS
  return [
    {
      what: what('take'),
      limit,
      count,
      calls: CALLS,
      act: (ledger, charge, i) => ledger.decide([[charge(count + i)]]),
    },
    {
      what: what('renew'),
      limit,
      count: all,
      calls: CALLS,
      act: (ledger, charge, i) => renew(ledger, [charge(count + i)]),
    },
    {
      what: what('settle'),
      limit,
      count: all,
      calls: CALLS,
      act: (ledger, charge, i) => settle(ledger, ended(charge(count + i))),
    },
  ]
}

/** What a call costs where a key holds as much as it can. */
function atMost(name: string, limit: Charge['limit'], count: number): Case[] {
  const common = { limit, count }
  return [
    { ...common, what: `take the last ${name}`, act: decide },
    {
      ...common,
      what: `settle one of all ${name}s`,
      act: (ledger, charge) => settle(ledger, ended(charge(500))),
    },
    {
      ...common,
      what: `renew 100 of all ${name}s`,
      act: (ledger, charge) =>
        renew(
          ledger,
          Array.from({ length: 100 }, (_, i) => charge(1 + i)),
        ),
    },
    { ...common, what: `all ${name}s have ended`, pass: HOLD_MS + count, act: decide },
    { ...common, what: `the clock steps back behind all ${name}s`, pass: -9000, act: decide },
  ]
}

const settleAt = (share: number, cost: number): Case['act'] => {
  return (ledger, charge, _, at) => {
    const charges = [charge(0, { cost, claim: undefined })]
    const chargedAt = at - Math.floor(share * LOG.units)
    return ledger.change({ kind: 'settle', charges, chargedAt })
  }
}

const ofLog: readonly Omit<Case, 'limit'>[] = [
  { what: 'the last of the log', count: 9999, act: decide },
  { what: 'refused by the full log', count: 10_000, act: decide },
  {
    what: 'peek at the whole of the full log',
    count: 10_000,
    act: (ledger, charge) => ledger.decide([[charge(0, { cost: 10_000 })]], true),
  },
  { what: 'settle one unit in the middle of the log', count: 9999, act: settleAt(0.5, 1) },
  { what: 'give all of the log back', count: 9999, act: settleAt(0, -9999) },
  { what: 'all but one of the log have left', count: 9999, pass: HOLD_MS - 1, act: decide },
  { what: 'the clock steps back behind the log', count: 9999, pass: -90_000, act: decide },
]

export const CASES: readonly Case[] = [
  ...Object.entries(HELD).flatMap(([name, { limit }]) =>
    [0, 90, 900].flatMap((count) => beside(name, limit, count)),
  ),
  ...Object.entries(HELD).flatMap(([name, { limit, most }]) => atMost(name, limit, most)),
  ...ofLog.map((each) => ({ ...each, limit: LOG })),
]

let prefixes = 0

/** Fills a key, and makes the calls. @param measure says what they cost, µs. @returns the cost of one */
export async function costOf(
  { limit, count, pass = 0, calls = 1, act }: Case,
  open: (clock: ManualClock) => Store,
  measure: (act: () => Promise<void>) => Promise<number>,
): Promise<number> {
  prefixes += 1
  const clock = manualClock(1_800_000_000_000)
  const store = open(clock)
  const { algorithm } = limit
  const keyspace = { name: algorithm.name, algorithm }
  const ledger: Ledger = store.open([keyspace], `held-${prefixes}`, 60_000)
  // Numbers as a process chooses them, and an owner for each.
  const charge: ChargeOf = (entry, more) => {
    const claim = [2 ** 52 + entry * 7919, 2 ** 52 + entry * 104729]
    return { key: 'client', limit, cost: 1, claim, ...more }
  }
  for (let entry = 1; entry <= count; entry += 1) {
    clock.advance(1)
    await ledger.decide([[charge(entry)]])
  }
  clock.advance(pass)
  const micros = await measure(async () => {
    for (let i = 1; i <= calls; i += 1) await act(ledger, charge, i, clock())
  })
  store.close()
  return micros / calls
}
