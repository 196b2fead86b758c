import { test } from '@jest/globals'
import { isAll } from '@sluice/test-harness/jest'
import { patient } from '@sluice/test-harness/redis'
import fc from 'fast-check'
import {
  type BanOptions,
  createLimiter,
  type Limiter,
  type PolicyOptions,
  type Store,
} from '../../index.ts'
import { expectAlike, type Open } from './alike.ts'
import {
  anyLongOperations,
  anyOperations,
  anyPolicies,
  type Operation,
  perform,
} from './operations.ts'
import { HOUR, MONTH, TEN_YEARS } from './trace.ts'
import { anyVaryingRequests, expectVaryingParity } from './varying-parity.ts'

/**
 * `SLUICE_PARITY`: above 1, long histories of two versions with other limits are played too.
 * 80 times its number for a share of 1, each with about 325 requests.
 */
const times = Number(process.env.SLUICE_PARITY ?? 1)
/** How much of the random scenarios to run; of those that were found before, all. */
const part = isAll ? 1 : 0.25

/** Two versions of an application, which differ in their limits, and how many operations each does in turn. */
interface Deploys {
  readonly other: PolicyOptions[]
  readonly every: number
}

/** @throws if the store differs from memory, in any number of any decision */
export function expectParity(
  open: Open,
  policies: PolicyOptions[],
  operations: readonly Operation[],
  ban?: BanOptions,
  deploys?: Deploys,
): Promise<void> {
  return expectAlike(open, async (store, clock, prefix) => {
    const create = (of: Store, policies: PolicyOptions[]) =>
      createLimiter({ ...(store.mode === 'async' && patient), policies, store: of, ban, prefix })
    const limiters = [create(store, policies)]
    // Two limiters of one store must not differ in their limits: the other version has an object of its own for it.
    if (deploys) limiters.push(create(Object.create(store), deploys.other))
    if (store.mode === 'async')
      for (const limiter of limiters) await writeTerms(store as Store<'async'>, limiter)
    const said: unknown[] = []
    for (const [i, operation] of operations.entries()) {
      const turn = Math.floor(i / (deploys?.every ?? Infinity)) % limiters.length
      // A batch for each operation that consumes.
      said.push(...(await Promise.all(perform(limiters[turn] as Limiter, clock, operation))))
    }
    return said
  })
}

/**
 * The terms of the limits are written beside the first call, on a connection of their own: calls of the second
 * turn would wait for different connections, and come out of order.
 */
async function writeTerms(store: Store<'async'>, limiter: Limiter): Promise<void> {
  await limiter.block('terms', 1)
  for await (const _ of store.inspect?.({ prefix: 'none' }) ?? []) break
}

/**
 * Registers the tests that a remote store decides as memory does.
 *
 * @param share how much of the random scenarios to run, 0 … 1
 */
export function paritySuite(name: string, open: Open, share = 1): void {
  const expectIn = (...drawn: [PolicyOptions[], readonly Operation[], BanOptions?]) =>
    expectParity(open, ...drawn)

  test(`memory and ${name} decide alike, whatever the operations`, async () => {
    const parity = fc.asyncProperty(anyPolicies, anyOperations, (...drawn) => expectIn(...drawn))
    await fc.assert(parity, { numRuns: found.length + 800 * share * part, examples: found })
  })

  test('with bans too', async () => {
    const parity = fc.asyncProperty(anyPolicies, anyOperations, anyBan, expectIn)
    await fc.assert(parity, {
      numRuns: foundWithBans.length + 200 * share * part,
      examples: foundWithBans,
    })
  })

  if (times > 1) {
    const anyDeploys = anyPolicies.chain((policies) =>
      fc.tuple(fc.constant(policies), anyOtherLimits(policies), anyLongOperations),
    )
    const play = async () => {
      const parity = fc.asyncProperty(anyDeploys, ([policies, deploys, operations]) =>
        expectParity(open, policies, operations, undefined, deploys),
      )
      await fc.assert(parity, { numRuns: Math.ceil(80 * share * times), endOnFailure: true })
    }
    test('versions of other limits in turn', play, 3_600_000)
  }

  test('requests of one turn are decided as if they came one after the other', async () => {
    const policies: PolicyOptions[] = [
      { name: 'log', algorithm: 'sliding-log', limit: 150, window: 1000 },
      { name: 'bucket', algorithm: 'token-bucket', limit: 100, window: 1000 },
    ]
    const crowd = Array.from({ length: 300 }, (_, i) => i % 4)
    await expectIn(policies, [
      { consume: crowd, key: 'a' },
      { pass: 500 },
      { consume: crowd, key: 'a' },
    ])
  })

  test('clients of different limits, and costs that differ by policy, are decided alike', async () => {
    const parity = fc.asyncProperty(anyVaryingRequests, (requests) =>
      expectVaryingParity(open, requests),
    )
    await fc.assert(parity, { numRuns: Math.ceil(60 * share * part) })
  })
}

function anyOtherLimits(policies: readonly PolicyOptions[]): fc.Arbitrary<Deploys> {
  const limits = fc.tuple(...policies.map(() => fc.integer({ min: 0, max: 20 })))
  return fc.record({ limits, every: fc.integer({ min: 1, max: 9 }) }).map(({ limits, every }) => ({
    other: policies.map((policy, i) => ({ ...policy, limit: limits[i] as number })),
    every,
  }))
}

const anyDuration = fc.constantFrom('1ms', '250ms', '1s', '1m')
const anyBan: fc.Arbitrary<BanOptions> = fc.record({
  after: fc.integer({ min: 1, max: 4 }),
  within: anyDuration,
  for: fc.array(anyDuration, { minLength: 1, maxLength: 3 }),
})

type Scenario = [PolicyOptions[], Operation[]]

/** A scenario with one policy. */
const ofOne = (policy: PolicyOptions, ...operations: Operation[]): Scenario => {
  return [[{ ...policy, name: 'policy 0' }], operations]
}

const five = { algorithm: 'fixed-window', limit: 5, window: 1000 } as const
/** What two clients have of their own ends. */
const ownEnds: readonly Operation[] = [
  { override: 0, key: 'a', policy: 0, lasts: 1000 },
  { grant: 2, key: 'b', policy: 0, lasts: 1000 },
  { pass: 1001 },
]

/** Scenarios in which two stores once differed, or nearly did. */
const found: Scenario[] = [
  // A key lives for so long that half a millisecond is too little to say that its client has a record.
  ofOne(
    { algorithm: 'leaky-bucket', limit: 1, window: TEN_YEARS, maxDelay: 0 },
    { settle: 1_000_000_000_000, key: 'a' },
    { override: 2, key: 'a', policy: 0 },
    { consume: [1_000_000], key: 'a' },
  ),
  // A debt near 2^53 parts, where clients read integers wrong.
  ofOne(
    { algorithm: 'leaky-bucket', limit: 1, window: TEN_YEARS, maxDelay: 0 },
    { settle: 1_000_000, key: 'a' },
    { peek: 'a' },
  ),
  // A refusal on a clock that has stepped back moves the state, and stays uncharged.
  [
    [
      { name: 'log', algorithm: 'sliding-log', limit: 2, window: 1000 },
      { name: 'one', algorithm: 'fixed-window', limit: 1, window: 1000 },
    ],
    [
      { consume: [1], key: 'a' },
      { pass: -HOUR },
      { consume: [1, 2], key: 'a' },
      { pass: 1000 },
      { consume: [1, 1], key: 'a' },
    ],
  ],
  // A refusal leaves a state that is full by now, and counts again on a clock that steps back once more.
  ofOne(
    { algorithm: 'sliding-window', limit: 17, window: 3543 },
    { consume: 1, keys: ['b', 'c'] },
    { pass: -HOUR + 903 },
    { consume: 1_000_000, keys: ['a', 'c'] },
    { consume: 1, keys: ['a', 'c'] },
    { pass: -HOUR + 2366 },
    { consume: 10, keys: ['b', 'c'] },
  ),
  // A client's own limit that has ended applies again on a clock that steps back before a write.
  ...[[], [{ peek: 'a' }]].map((before) =>
    ofOne(five, ...ownEnds, ...before, { pass: -2 }, { consume: 1, keys: ['a', 'b'] }),
  ),
  // The first write after their end forgets them: a charge, a block, a reset, a correction.
  ...[
    (key: string) => ({ consume: [1], key }),
    (key: string) => ({ block: 1, key }),
    (key: string) => ({ reset: key }),
    (key: string) => ({ settle: key === 'a' ? -1 : 1, key }),
  ].map((write) => {
    const looks = [{ pass: -2 }, { peek: 'a' }, { peek: 'b' }]
    const later = [{ pass: 1 }, { consume: 1, keys: ['a', 'b'] }]
    return ofOne(five, ...ownEnds, write('a'), write('b'), ...looks, ...later)
  }),
  // A write leaves them whole as long as one of them has not ended.
  ofOne(
    five,
    { override: 3, key: 'a', policy: 0, lasts: 1000 },
    { grant: 2, key: 'a', policy: 0, lasts: 2000 },
    { pass: 1001 },
    { block: 1, key: 'a' },
    { reset: 'a' },
    { consume: [1], key: 'a' },
    { pass: -2 },
    { consume: [1], key: 'a' },
  ),
  ...[null, 3].flatMap((override) => [
    // A block has ended when what a client has of its own changes, and begins again on a clock that steps back.
    ofOne(
      { algorithm: 'leaky-bucket', limit: 1, window: '1ms', maxDelay: 0 },
      { block: 1, key: 'a' },
      { pass: 1 },
      { override, key: 'a', policy: 0 },
      { pass: -2 },
      { consume: [0], key: 'a' },
    ),
    // The same of a count whose window has ended.
    ofOne(
      { algorithm: 'fixed-window', limit: 2, window: 1000 },
      { consume: [1], key: 'a' },
      { pass: MONTH },
      { override, key: 'a', policy: 0 },
      { pass: -MONTH },
      { consume: [1], key: 'a' },
    ),
  ]),
  // A block ends, and the state that it replaced does not come back.
  ofOne(
    { algorithm: 'sliding-log', limit: 2, window: 1000 },
    { consume: [2], key: 'a' },
    { block: 300, key: 'a' },
    { settle: -1, key: 'a', ago: 0 },
    { pass: 299 },
    { consume: [1], key: 'a' },
    { pass: 1 },
    { consume: [1, 1, 1], key: 'a' },
  ),
]

/** Scenarios with a ban in which two stores once differed. */
const foundWithBans: [...Scenario, BanOptions][] = [
  // A client's own limit ends, a write forgets it, and the clock steps back before its end.
  [
    ...ofOne(
      { algorithm: 'fixed-window', limit: 10_000_000, window: '1ms' },
      { override: 0, key: 'a', policy: 0, lasts: 1000 },
      { pass: 1001 },
      { consume: [1], key: 'a' },
      { pass: -1 },
      { pass: -1 },
      { consume: 1, keys: ['a', 'b', 'c'] },
    ),
    { after: 1, within: '1ms', for: ['1ms'] },
  ],
]
