/**
 * The docblock lets Node 20 read this file, which cannot run TypeScript by itself.
 *
 * @jest-config-loader esbuild-register
 */
import { availableParallelism } from 'node:os'
import type { Config } from 'jest'

// Far from UTC, and off by half an hour: what depends on the zone of its machine fails.
process.env.TZ = 'Asia/Kolkata'

/** The tests that `npm test` leaves to `npm test -- --all`, as parts of paths. */
const LEFT_TO_ALL = [
  // Pages in a browser, and the packages as users install and run them.
  '\\.browser\\b',
  '/system-tests/src/packages/',
  // Tests that measure memory and calls, and the tools that measure.
  '/packages/bench/',
  '/core/src/stores/resilient/footprint',
  // Real faults of real servers, one at a time. The simulator plays the same faults, and load.
  '/system-tests/src/faults/',
  '/simulation/src/(overload/|redis/|simulation)',
  // Long histories of one part, where another test plays short ones.
  '/http/src/overload/admission',
  '/core/src/algorithms/(reserved/reserved|concurrency/histories|parity|.*/moving-anchor)',
  '/system-tests/src/(leaving/leaving|policies/raise-and-lower|recipes/plans|recipes/estimate)',
  '/outgoing/src/body',
  '/transactional/src/parts/',
  '/core/src/stores/resilient/refusals',
  '/core/src/stores/memory/(flood|table)',
  '/core/src/limiter/live/adversaries',
  // Programs of the documentation and of the examples in processes of their own.
  '/system-tests/src/(examples|release)/',
  '/system-tests/src/places/(feathers|frameworks|lambda|mcp|pm2|socket-io)',
  '/system-tests/src/runtimes/(adapters|bun-redis|workerd)',
  '/sqlite/src/processes',
  // What all frameworks do in the same way, beyond their suites.
  '/system-tests/src/frameworks/(by-hand|flowing-bodies|spellings|usage)',
  '/system-tests/src/overload/adapters',
  '/nest/src/(throttler-storage|transports)',
  // The command in a process of its own, and on each store; its parts are tested in this one.
  '/cli/src/(.*\\.cli|readme|known-traffic)',
  '/cli/src/operate/(mysql|postgres|on-call|connect|policy/|serve/)',
  '/cli/src/replay/runs/',
  // One more client, server or set-up of the same store, and what the tests themselves stand on.
  '/system-tests/src/stores/redis-cluster',
  '/core/src/stores/redis/(clients|cluster|released|secure|sentinel|set-ups|upstash)',
  '/(elysia|mysql|postgres)/src/suite',
  '/packages/(test-harness|test-suites)/',
  // Programs that are rewritten, beside those of the tables.
  '/migrate/src/(applications|fixed-point|migrate-text)',
]

/** The tests that `npm test -- --all` leaves to `npm test -- --release`: minutes of load and of histories each. */
const LEFT_TO_RELEASE = [
  '/budget/src/hard',
  '/dynamodb/src/suite',
  '/simulation/src/(histories/real-stores|overload/overload)',
  // The simulator plays the same faults in each run.
  '/system-tests/src/faults/(cluster|failover|leases|mysql|overload|postgres|server|settlements|shares|slots)',
  '/system-tests/src/policies/processes',
  '/system-tests/src/examples/observability',
  // Frameworks that npm installs for them.
  '/system-tests/src/places/other-frameworks',
  '/bench/src/(budget|comparison|contenders)/',
]

/**
 * The tests that play the packages as they are installed from their tarballs, as parts of paths: the suites of stores
 * and adapters, live policies, slots, waits, budgets, outgoing calls, meters.
 */
const PACKED = [
  '/(elysia|express|fastify|hono|koa|nest|node)/src/(express|stores|suite)',
  '/system-tests/src/stores/',
  '/core/src/limiter/live/live',
  '/core/src/stores/redis/live-policies',
  '/system-tests/src/(events|leaving|metering|recipes)/',
  '/system-tests/src/policies/(guide|raise)',
  '/system-tests/src/clients/model-apis',
  '/budget/src/(budget|clients|comparison)',
  '/mcp/src/mcp-limiter',
  '/outgoing/src/servers',
  '/nest/src/(nest|throttler-storage|transports)',
  '/node/src/(server|upgrade)',
  '/otel/src/traces',
]

/** Those that start programs, or bundle them: Node and the bundler choose the format, so they run once. */
const PACKED_PROGRAMS = [
  '/system-tests/src/(places|readme|runtimes)/',
  '/system-tests/src/policies/(command|processes)',
  '/system-tests/src/clients/retries',
  '/budget/src/(cluster|hard)',
  '/cli/src/([a-z]+\\.cli|readme|known-traffic)',
  '/simulation/src/histories/real-stores',
]

/** Those of `npm test`: each feature once. */
const PACKED_ONCE = [
  '/hono/src/suite',
  '/system-tests/src/stores/memory',
  '/core/src/limiter/live/live',
  '/system-tests/src/policies/command',
  '/system-tests/src/leaving/in-progress',
  '/budget/src/budget',
  '/outgoing/src/servers',
  '/system-tests/src/metering/',
  '/system-tests/src/readme/readme',
]

/** Those that play the ES modules too. */
const PACKED_ESM = [
  '/(express|fastify|hono)/src/(express|suite)',
  '/core/src/limiter/live/live',
  '/system-tests/src/stores/memory',
  '/budget/src/budget',
  '/outgoing/src/servers',
]

/** The tests that this command plays on the packages, and not on the sources. */
const packed =
  process.env.SLUICE_ALL !== '1'
    ? PACKED_ONCE
    : process.env.SLUICE_PACKED_FORMAT === 'esm'
      ? PACKED_ESM
      : [...PACKED, ...PACKED_PROGRAMS]

/** What this command leaves out, unless its arguments name it. */
const leftOut = [
  ...(process.env.SLUICE_ALL === '1' ? [] : LEFT_TO_ALL),
  ...(process.env.SLUICE_RELEASE === '1' ? [] : LEFT_TO_RELEASE),
]

/** Whether an argument of the command line is that file or folder, or a part of it. */
const isNamed = (pattern: string) =>
  process.argv.slice(2).some((each) => new RegExp(pattern).test(`/${each}/`))

const config: Config = {
  roots: ['<rootDir>/packages'],
  ...(process.env.SLUICE_PACKED
    ? { testRegex: packed.map((each) => `${each}.*\\.test\\.ts$`) }
    : { testMatch: ['**/*.test.ts'] }),
  testPathIgnorePatterns: [
    '/node_modules/',
    ...leftOut.filter((each) => !isNamed(each)),
    ...(process.env.SLUICE_PLAYS_PACKED && !process.env.SLUICE_PACKED ? packed : []),
  ],
  modulePathIgnorePatterns: ['/dist/'],
  ...(process.env.SLUICE_PACKED && {
    resolver: '<rootDir>/packages/test-harness/src/packed/jest-resolver.cjs',
    // The ES modules of the packages are those of users, but for their import statements.
    transformIgnorePatterns: ['/node_modules/(?!@sluice/)'],
  }),
  testEnvironment: '<rootDir>/packages/test-harness/src/jest/node-environment.ts',
  transform: {
    '\\.ts$|/node_modules/@sluice/.*\\.js$': [
      '@swc/jest',
      {
        swcrc: false,
        jsc: {
          target: 'es2022',
          // As Nest's decorators are.
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true },
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  // Parameters of each module instead of properties of Jest's context, which are slow to read: tests
  // take about 15 % less CPU. Not what tests replace, such as Date, nor Error, which mysql2 declares.
  sandboxInjectedGlobals: [
    'Array',
    'BigInt',
    'Boolean',
    'JSON',
    'Map',
    'Math',
    'Number',
    'Object',
    'Promise',
    'Reflect',
    'Set',
    'String',
    'Symbol',
    'TypeError',
    'WeakMap',
  ],
  // So long that a machine with six times the load runs them all, and what hangs still ends.
  testTimeout: 300_000,
  // Long enough for a worker to free its memory on a busy machine: after 500 ms Jest takes this for a leak.
  workerGracefulExitTimeout: 10_000,
  // Many tests wait, for faults to show and for time to pass. A number, since Jest takes '200%' for 200
  // workers.
  maxWorkers: 2 * availableParallelism(),
}

export default config
