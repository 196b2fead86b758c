import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Charge, Keyspace, Store } from '../../index.ts'
import type { Change, Ledger, StoreResult } from '../../stores/store.ts'
import { type ManualClock, manualClock } from '../../testing/index.ts'
import type { CompiledLimit } from '../algorithm.ts'
import { concurrency } from '../concurrency/concurrency.ts'
import { algorithms } from '../index.ts'
import { reserved } from '../reserved/reserved.ts'
import { expectAlike, factsOf, type Open } from './alike.ts'
import { often } from './operations.ts'
import { START } from './trace.ts'

const WINDOW_MS = 5000
const HOLD_MS = 2000
const window = { limit: 100_000, windowMs: WINDOW_MS, holdMs: HOLD_MS }

/** Limits whose states have many entries, each with the further numbers of its charges. */
const LIMITS: { readonly [name: string]: CompiledLimit } = {
  slots: concurrency.compile({ limit: 400, windowMs: HOLD_MS }),
  'reservations of a window': reserved(algorithms['fixed-window']).compile(window),
  'reservations of a bucket': reserved(algorithms['token-bucket']).compile(window),
  log: algorithms['sliding-log'].compile({ limit: 900, windowMs: WINDOW_MS }),
}

/** A share of the admitted charges, in thousandths. */
const anyShare = fc.integer({ min: 0, max: 1000 })

/** Operations on a key that has many entries. */
const anyOperation = fc.oneof(
  often(5, {
    open: fc.constantFrom(1, 3, 20, 90, 150),
    cost: fc.constantFrom(1, 1, 2, 7),
    apart: fc.constantFrom(0, 1, 1, 13),
    owners: fc.constantFrom(0, 1, 3),
  }),
  often(4, {
    settle: fc.constantFrom(1, 2, 30, 120),
    at: anyShare,
    delta: fc.constantFrom(-7, -1, 0, 3),
  }),
  often(2, { renew: fc.constantFrom(1, 25, 200), at: anyShare }),
  often(3, { pass: fc.constantFrom(1, 40, 400, 1999, 2000, 6000, -1, -300, -9000) }),
  often(2, { peek: fc.constantFrom(0, 1, 500, 100_000) }),
  often(1, { end: fc.constantFrom('block', 'reset') }),
  // The client's own limit, or its end (null), and a top-up: where time would end them, a clock that steps back may make
  // them apply again.
  often(1, { own: fc.constantFrom(null, 0, 5, 120, 300_000) }),
  often(1, { grant: fc.constantFrom(1, 250) }),
)
type Operation = typeof anyOperation extends fc.Arbitrary<infer T> ? T : never

const anyCrowd = fc.array(anyOperation, { minLength: 1, maxLength: 25 })

interface Admitted {
  readonly slot: number
  readonly cost: number
  readonly owner: number
  readonly at: number
}

/** Does operations on a store; returns what it said. */
async function play(
  store: Store,
  clock: ManualClock,
  prefix: string,
  limit: CompiledLimit,
  operations: readonly Operation[],
): Promise<unknown[]> {
  const keyspace: Keyspace = {
    name: `${limit.algorithm.name}:5000:crowd`,
    algorithm: limit.algorithm,
  }
  const ledger = store.open([keyspace], prefix)
  const hasSlots = limit.algorithm.holdsSlots === true || limit.algorithm.reserves === true
  const charged = (each: Admitted): Charge => ({
    key: 'client',
    limit,
    cost: each.cost,
    claim: hasSlots ? [each.slot, each.owner] : undefined,
  })
  const admitted: Admitted[] = []
  const some = (count: number, at: number) => {
    const from = Math.floor((at * admitted.length) / 1000)
    return admitted.splice(from, count)
  }
  let slot = 0
  const said: unknown[] = []
  const change = async (change: Change) => {
    const raised: unknown[] = []
    const done = await ledger.change(change, ({ place, before, remaining, resetMs, limit, at }) =>
      raised.push([place, before, remaining, resetMs, limit, at]),
    )
    said.push([done, raised])
  }
  for (const operation of operations) {
    if ('pass' in operation) clock.advance(operation.pass)
    else if ('open' in operation) {
      for (let i = 0; i < operation.open; i += 1) {
        slot += 1
        const owner = operation.owners === 0 ? 0 : 1e12 + (slot % operation.owners)
        const cost = limit.algorithm.holdsSlots ? 1 : operation.cost
        const each = { slot: slot * 7919 * 2 ** 20, cost, owner, at: clock() }
        const [result] = await ledger.decide([[charged(each)]])
        said.push(factsOf(result))
        if ((result as StoreResult).admitted) admitted.push(each)
        clock.advance(operation.apart)
      }
    } else if ('settle' in operation) {
      for (const each of some(operation.settle, operation.at)) {
        const cost = limit.algorithm.holdsSlots ? -1 : Math.max(-each.cost, operation.delta)
        const reservedUnits = limit.algorithm.reserves ? each.cost : undefined
        const charges = [{ ...charged(each), cost, reserved: reservedUnits }]
        await change({ kind: 'settle', charges, chargedAt: each.at })
      }
    } else if ('renew' in operation) {
      const renewed = some(operation.renew, operation.at)
      admitted.push(...renewed)
      if (hasSlots)
        await change({ kind: 'renew', requests: renewed.map((each) => [charged(each)]) })
    } else if ('peek' in operation) {
      const asked = { slot: 1, cost: operation.peek, owner: 1e12, at: 0 }
      said.push(factsOf((await ledger.decide([[charged(asked)]], true))[0]))
    } else if ('own' in operation) {
      const { own } = operation
      const override = own === null ? undefined : { limit: own, until: Infinity }
      await change({ kind: 'override', policy: 0, key: 'client', limit, override })
    } else if ('grant' in operation) {
      const grant = { units: operation.grant, until: clock() + 1e9, id: '' }
      await change({ kind: 'grant', policy: 0, key: 'client', limit, grant })
    } else if (operation.end === 'block')
      await change({ kind: 'block', key: 'client', durationMs: 100 })
    else await change({ kind: 'reset', key: 'client' })
  }
  return said
}

/**
 * Registers the tests that a store decides as memory does where a key has many slots, reservations or entries of a
 * log: charged, settled, renewed, ended by time, while the clock steps.
 */
export function crowdedSuite(name: string, open: Open, numRuns: number): void {
  test.each(Object.keys(LIMITS))(`memory and ${name} decide alike about many %s`, async (of) => {
    const limit = LIMITS[of] as CompiledLimit
    const parity = fc.asyncProperty(anyCrowd, (crowd) =>
      expectAlike(open, (...given) => play(...given, limit, crowd)),
    )
    await fc.assert(parity, { numRuns })
  })
}

/** Separates the keys of the tests. */
let sharings = 0

/** Registers the test that stores which share what they keep, as processes do, admit together what one would. */
export function crowdedSharingSuite(open: Open): void {
  test('several processes that take and end slots of one key admit its limit, and lose none', async () => {
    const limit = concurrency.compile({ limit: 150, windowMs: 600_000 })
    const clock = manualClock(START)
    const stores = [1, 2, 3].map(() => open(clock))
    sharings += 1
    const keyspace: Keyspace = { name: 'concurrency:0:crowd', algorithm: concurrency }
    const ledgers = stores.map((store) =>
      store.open([keyspace], `crowd:${process.pid}:${sharings}`, 30_000),
    )
    const charge = (slot: number, cost = 1): Charge => ({
      key: 'client',
      limit,
      cost,
      claim: [slot],
    })
    for (let round = 0; round < 2; round += 1) {
      const taken: { slot: number; place: number }[] = []
      const taking = ledgers.map(async (ledger, place) => {
        for (let from = 0; from < 100; from += 10) {
          const slots = Array.from({ length: 10 }, (_, i) => 1000 * (place + 1) + from + i)
          const results = await ledger.decide(slots.map((slot) => [charge(slot)]))
          for (const [i, slot] of slots.entries())
            if ((results[i] as StoreResult).admitted) taken.push({ slot, place })
        }
      })
      await Promise.all(taking)
      expect(taken).toHaveLength(150)
      // Each is ended by another process than the one that took it.
      const ending = taken.map(({ slot, place }) => {
        const charges = [charge(slot, -1)]
        return ledgers[(place + 1) % 3]?.change({ kind: 'settle', charges })
      })
      await Promise.all(ending)
      const [ledger] = ledgers as [Ledger<'async'>]
      const [left] = (await ledger.decide([[charge(1)]], true)) as [StoreResult]
      expect(left.outcomes[0]?.remaining).toBe(149)
    }
    for (const store of stores) store.close()
  })
}
