import { expect, test } from '@jest/globals'
import { patient } from '@sluice/test-harness/redis'
import fc from 'fast-check'
import {
  type BanOptions,
  createLimiter,
  type Decision,
  memoryStore,
  type PolicyOptions,
} from '../../index.ts'
import { manualClock } from '../../testing/index.ts'
import { anyOperations, anyPolicies, type Operation, perform } from './operations.ts'
import type { Open } from './store-replay.ts'
import { anyTierRequests, expectTierParity } from './tier-parity.ts'
import { START } from './trace.ts'

type Decisions = (Decision | undefined)[]

/** Separates the keys of the scenarios. */
let scenarios = 0

/** What memory decides. All in one turn, so that the store sweeps nothing meanwhile. */
function inMemory(
  policies: PolicyOptions[],
  operations: readonly Operation[],
  ban?: BanOptions,
): Decisions {
  const clock = manualClock(START)
  const store = memoryStore({ clock })
  const limiter = createLimiter({ policies, store, ban })
  const decisions = operations.flatMap((operation) => perform(limiter, clock, operation))
  store.close()
  return decisions as Decisions
}

/** What the remote store decides, with a batch for each operation that consumes. */
async function remotely(
  open: Open,
  policies: PolicyOptions[],
  operations: readonly Operation[],
  ban?: BanOptions,
) {
  scenarios += 1
  const clock = manualClock(START)
  const store = open(clock)
  const prefix = `parity:${process.pid}:${scenarios}`
  const limiter = createLimiter({ ...patient, policies, store, ban, prefix })
  const decisions: Decisions = []
  for (const operation of operations) {
    decisions.push(...((await Promise.all(perform(limiter, clock, operation))) as Decisions))
  }
  store.close()
  return decisions
}

/** @throws if the store differs from memory, in any number of any decision */
export async function expectParity(
  open: Open,
  policies: PolicyOptions[],
  operations: readonly Operation[],
  ban?: BanOptions,
) {
  const expected = inMemory(policies, operations, ban)
  expect(inJson(await remotely(open, policies, operations, ban))).toEqual(inJson(expected))
}

function inJson(decisions: Decisions): unknown {
  const text = JSON.stringify(decisions, (_, value) => {
    return value === Infinity ? 'never' : value
  })
  return JSON.parse(text)
}

/**
 * Registers the tests that a remote store decides as memory does.
 *
 * @param share how much of the random scenarios to run, 0 … 1
 */
export function paritySuite(name: string, open: Open, share = 1): void {
  const expectAlike = (...drawn: [PolicyOptions[], readonly Operation[], BanOptions?]) =>
    expectParity(open, ...drawn)

  test(`memory and ${name} decide alike, whatever the operations`, async () => {
    const parity = fc.asyncProperty(anyPolicies, anyOperations, (...drawn) => expectAlike(...drawn))
    await fc.assert(parity, { numRuns: 800 * share, examples: found })
  })

  test('with bans too', async () => {
    const parity = fc.asyncProperty(anyPolicies, anyOperations, anyBan, expectAlike)
    await fc.assert(parity, { numRuns: 200 * share })
  })

  test('requests of one turn are decided as if they came one after the other', async () => {
    const policies: PolicyOptions[] = [
      { name: 'log', algorithm: 'sliding-log', limit: 150, window: 1000 },
      { name: 'bucket', algorithm: 'token-bucket', limit: 100, window: 1000 },
    ]
    const crowd = Array.from({ length: 300 }, (_, i) => i % 4)
    await expectAlike(policies, [
      { consume: crowd, key: 'a' },
      { pass: 500 },
      { consume: crowd, key: 'a' },
    ])
  })

  test('clients of different tiers, and costs that differ by policy, are decided alike', async () => {
    const parity = fc.asyncProperty(anyTierRequests, (requests) => expectTierParity(open, requests))
    await fc.assert(parity, { numRuns: 60 * share })
  })
}

const anyDuration = fc.constantFrom(1, 250, 1000, 60_000)
const anyBan: fc.Arbitrary<BanOptions> = fc.record({
  after: fc.integer({ min: 1, max: 4 }),
  within: anyDuration,
  for: fc.array(anyDuration, { minLength: 1, maxLength: 3 }),
})

/** Scenarios in which two stores once differed, or nearly did. */
const found: [PolicyOptions[], Operation[]][] = [
  // A debt near 2^53 parts, where clients read integers wrong.
  [
    [{ algorithm: 'leaky-bucket', limit: 1, window: 315_576_000_000, maxDelay: 0 }],
    [{ settle: 1_000_000, key: 'a' }, { peek: 'a' }],
  ],
  // A refusal on a clock that has stepped back moves the state, and stays uncharged.
  [
    [
      { name: 'log', algorithm: 'sliding-log', limit: 2, window: 1000 },
      { name: 'one', algorithm: 'fixed-window', limit: 1, window: 1000 },
    ],
    [
      { consume: [1], key: 'a' },
      { pass: -3_600_000 },
      { consume: [1, 2], key: 'a' },
      { pass: 1000 },
      { consume: [1, 1], key: 'a' },
    ],
  ],
  // A block ends, and the state that it replaced does not come back.
  [
    [{ algorithm: 'sliding-log', limit: 2, window: 1000 }],
    [
      { consume: [2], key: 'a' },
      { block: 300, key: 'a' },
      { settle: -1, key: 'a', ago: 0 },
      { pass: 299 },
      { consume: [1], key: 'a' },
      { pass: 1 },
      { consume: [1, 1, 1], key: 'a' },
    ],
  ],
]
