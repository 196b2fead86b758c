import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { patient, type RedisServer, startRedis } from '@sluice/test-harness/redis'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import {
  type BanOptions,
  createLimiter,
  type Decision,
  type Ledger,
  memoryStore,
  type PolicyOptions,
  redisStore,
  type StoreResult,
} from '../index.ts'
import { manualClock } from '../testing/index.ts'
import { algorithms } from './index.ts'
import { anyOperations, anyPolicies, type Operation, perform } from './testing/operations.ts'

const START = 1_800_000_000_000

let redis: RedisServer
let client: Redis
/** Separates the keys of the scenarios. */
let scenario = 0
beforeAll(async () => {
  redis = await startRedis()
  client = new Redis(redis.port)
})
afterAll(async () => {
  client.disconnect()
  await redis.stop()
})

type Decisions = (Decision | undefined)[]

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

/** What Redis decides, with a batch for each operation that consumes. */
async function inRedis(
  policies: PolicyOptions[],
  operations: readonly Operation[],
  ban?: BanOptions,
) {
  const clock = manualClock(START)
  scenario += 1
  const store = redisStore(client, { clock })
  const limiter = createLimiter({ ...patient, policies, store, ban, prefix: `parity:${scenario}` })
  const decisions: Decisions = []
  for (const operation of operations) {
    decisions.push(...((await Promise.all(perform(limiter, clock, operation))) as Decisions))
  }
  return decisions
}

async function expectParity(
  policies: PolicyOptions[],
  operations: readonly Operation[],
  ban?: BanOptions,
) {
  const expected = inMemory(policies, operations, ban)
  expect(inJson(await inRedis(policies, operations, ban))).toEqual(inJson(expected))
}

function inJson(decisions: Decisions): unknown {
  const text = JSON.stringify(decisions, (_, value) => {
    return value === Infinity ? 'never' : value
  })
  return JSON.parse(text)
}

test('memory and Redis decide alike, whatever the operations', async () => {
  const parity = fc.asyncProperty(anyPolicies, anyOperations, (...drawn) => expectParity(...drawn))
  await fc.assert(parity, { numRuns: 800, examples: found })
})

test('with bans too', async () => {
  const anyDuration = fc.constantFrom(1, 250, 1000, 60_000)
  const anyBan = fc.record({
    after: fc.integer({ min: 1, max: 4 }),
    within: anyDuration,
    for: fc.array(anyDuration, { minLength: 1, maxLength: 3 }),
  })
  const parity = fc.asyncProperty(anyPolicies, anyOperations, anyBan, expectParity)
  await fc.assert(parity, { numRuns: 200 })
})

/** Scenarios in which the two once differed, or nearly did. */
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

test('requests of one turn are decided as if they came one after the other', async () => {
  const policies: PolicyOptions[] = [
    { name: 'log', algorithm: 'sliding-log', limit: 150, window: 1000 },
    { name: 'bucket', algorithm: 'token-bucket', limit: 100, window: 1000 },
  ]
  const crowd = Array.from({ length: 300 }, (_, i) => i % 4)
  const operations: Operation[] = [
    { consume: crowd, key: 'a' },
    { pass: 500 },
    { consume: crowd, key: 'a' },
  ]
  await expectParity(policies, operations)
})

test('a long log is kept alike when its dropped entries are cleared away', async () => {
  const policies: PolicyOptions[] = [{ algorithm: 'sliding-log', limit: 120, window: 1000 }]
  const anyStep = fc.tuple(fc.integer({ min: 1, max: 15 }), fc.integer({ min: -2, max: 3 }))
  const anyRun = fc.noBias(fc.array(anyStep, { minLength: 600, maxLength: 600 }))
  const parity = fc.asyncProperty(anyRun, async (run) => {
    const operations = run.flatMap(([pass, units], i): Operation[] => [
      { pass: i % 100 === 99 ? -20 : pass },
      units < 0 ? { settle: units, key: 'a', ago: 20 } : { consume: [units, units], key: 'a' },
      { peek: 'a' },
    ])
    await redis.command('CONFIG', 'RESETSTAT')
    await expectParity(policies, operations)
    // A log is rewritten as a whole only without its dropped entries.
    expect((await redis.commandStats()).set?.calls).toBeGreaterThan(0)
  })
  await fc.assert(parity, { numRuns: 3 })
})

test('clients of different tiers, and costs that differ by policy, are decided alike', async () => {
  const keyspaces = (['sliding-window', 'fixed-window'] as const).map((name) => ({
    name,
    algorithm: algorithms[name],
  }))
  const tiers = [0, 3, 5, 1e12].map((limit) =>
    keyspaces.map(({ algorithm }) => algorithm.compile({ limit, windowMs: 315_576_000_000 })),
  )
  const anyTier = fc.constantFrom(...tiers)
  const anyCost = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(5e11))
  const anyPass = fc.constantFrom(0, 0, 1, 35_036_750, 157_788_000_000, -35_036_750)
  const anyRequests = fc.array(fc.tuple(anyTier, anyCost, anyCost, anyPass), { maxLength: 30 })

  const parity = fc.asyncProperty(anyRequests, async (requests) => {
    scenario += 1
    const clock = manualClock(START)
    const consume = (ledger: Ledger, [limits, cost, other, pass]: (typeof requests)[number]) => {
      clock.advance(pass)
      return ledger.consume([
        { key: 'a', limit: limits[0]!, cost },
        { key: 'a', limit: limits[1]!, cost: other },
      ])
    }
    const store = memoryStore({ clock })
    const memory = store.open(keyspaces, 'tiers')
    const expected = requests.map((request) => copy(consume(memory, request) as StoreResult))
    store.close()
    clock.set(START)
    const remote = redisStore(client, { clock }).open(keyspaces, `tiers:${scenario}`)
    for (const [i, request] of requests.entries()) {
      expect(copy((await consume(remote, request)) as StoreResult)).toEqual(expected[i])
    }
  })
  await fc.assert(parity, { numRuns: 60 })
})

/** What every store says. A synchronous result is valid until the next one. */
function copy({ admitted, at, source, outcomes }: StoreResult): StoreResult {
  const copied = outcomes.map(
    ({ admitted, remaining, resetMs, retryAfterMs, effectiveMs, delayMs }) => ({
      admitted,
      remaining,
      resetMs,
      retryAfterMs,
      effectiveMs,
      delayMs,
    }),
  )
  return { admitted, at, source, outcomes: copied }
}
