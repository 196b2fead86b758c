// However requests are settled, they never really cost more than their algorithm's bound: in the
// stores, which keep more of a state than the steps know.

import { describe, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import fc from 'fast-check'
import type { CompiledLimit } from '../algorithms/algorithm.ts'
import type { AlgorithmName } from '../algorithms/index.ts'
import { algorithms } from '../algorithms/index.ts'
import { anyOffset, anyParams } from '../algorithms/testing/arbitraries.ts'
import {
  anyReservations,
  excess,
  playReservations,
  type ReservedKey,
} from '../algorithms/testing/reservations.ts'
import { memoryStore, redisStore, type Store } from '../index.ts'
import { type ManualClock, manualClock } from '../testing/index.ts'
import { type LedgerVerbs, withVerbs } from '../testing/ledger-verbs.ts'

const redis = useRedis()

function reserved(ledger: LedgerVerbs, limit: CompiledLimit, clock: ManualClock): ReservedKey {
  const at = (now: number, cost: number) => {
    clock.set(now)
    return [{ key: 'client', limit, cost }]
  }
  return {
    remaining: async (now) => (await ledger.peek(at(now, 0))).outcomes[0]?.remaining ?? 0,
    consume: async (now, cost) => (await ledger.consume(at(now, cost))).admitted,
    settle: (now, delta, chargedAt) => ledger.settle(at(now, delta), chargedAt),
  }
}

const stores: { store: string; runs: number; open: (clock: ManualClock) => Store }[] = [
  { store: 'memory', runs: 300, open: (clock) => memoryStore({ clock }) },
  { store: 'Redis', runs: 60, open: (clock) => redisStore(redis.client, { clock }) },
]
const cases = stores.flatMap((each) =>
  (Object.keys(algorithms) as AlgorithmName[]).map((name) => ({ ...each, name })),
)
let history = 0

describe.each(cases)('$name in $store', ({ name, runs, open }) => {
  test('settled at any time and in any order, requests never really cost more than its bound', async () => {
    const property = fc.asyncProperty(
      anyParams(name),
      anyOffset,
      anyReservations(25),
      async (params, ...played) => {
        history += 1
        const algorithm = algorithms[name]
        const clock = manualClock()
        const store = open(clock)
        const opened = store.open([{ name, algorithm }], `settled:${history}`)
        const ledger = withVerbs(opened)
        const key = reserved(ledger, algorithm.compile(params), clock)
        const admitted = await playReservations(key, params, ...played)
        store.close()
        expect(excess(name, params, admitted)).toBeLessThanOrEqual(1e-6)
      },
    )
    await fc.assert(property, { numRuns: runs })
  })
})
