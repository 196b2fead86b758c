/**
 * The docblock lets Node 20 read this file, which cannot run TypeScript by itself.
 *
 * @jest-config-loader esbuild-register
 */
import { availableParallelism } from 'node:os'
import type { Config } from 'jest'

// Far from UTC, and off by half an hour: what depends on the zone of its machine fails.
process.env.TZ = 'Asia/Kolkata'

const config: Config = {
  roots: ['<rootDir>/packages'],
  testMatch: ['**/*.test.ts'],
  // The last two take minutes: npm test -- --all runs them too.
  testPathIgnorePatterns: [
    '/node_modules/',
    '\\.browser\\.test\\.ts$',
    '/system-tests/src/packages/',
  ],
  modulePathIgnorePatterns: ['/dist/'],
  testEnvironment: '<rootDir>/packages/test-harness/src/jest/node-environment.ts',
  transform: {
    '\\.ts$': [
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
  // take about 15 % less CPU. Not what tests replace, such as Date.
  sandboxInjectedGlobals: [
    'Array',
    'BigInt',
    'Boolean',
    'Error',
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
  testTimeout: 60_000,
  // Long enough for a worker to free its memory on a busy machine: after 500 ms Jest takes this for a leak.
  workerGracefulExitTimeout: 10_000,
  // Many tests wait, for faults to show and for time to pass. A number, since Jest takes '200%' for 200
  // workers.
  maxWorkers: 2 * availableParallelism(),
}

export default config
